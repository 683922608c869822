//! `corridor`: one program for the service, its sandbox and its tools. The commands are listed in
//! `cli`.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
