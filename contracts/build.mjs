// Compiles src/ with the pinned compiler and fixed settings and writes artifacts/<Name>.json.
//
//   node build.mjs           writes the artifacts
//   node build.mjs --check   writes nothing; fails unless these artifacts and the released controllers match their
//                            sources byte for byte
//   node build.mjs --controllers DIR…
//                            compiles the controller of DIR/src, writes DIR/CorridorController.json
//
// Reads src/ (or DIR/src/) and node_modules/ only. Builds are reproducible on every machine: the compiler is WebAssembly, paths are
// relative, and the code contains no metadata hash.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import solc from "solc";

const HERE = dirname(fileURLToPath(import.meta.url));
const ARTIFACTS = join(HERE, "artifacts");
// Controllers of earlier versions, a directory each: their addresses may have been given out before they are deployed.
const RELEASED = join(HERE, "released");

const SOURCES = [
  "src/CorridorController.sol",
  "src/Vault.sol",
  "src/sandbox/SandboxUsdc.sol",
  "src/sandbox/SandboxUsdt.sol",
];

// Any change here changes the addresses of controllers deployed from then on.
const SETTINGS = {
  optimizer: { enabled: true, runs: 10000 },
  evmVersion: "shanghai",
  viaIR: false,
  metadata: { bytecodeHash: "none" },
};

function compile(sources = SOURCES, root = HERE) {
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(sources.map((path) => [path, { content: readFileSync(join(root, path), "utf8") }])),
    settings: {
      ...SETTINGS,
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
    },
  };
  const readImport = (path) => read(path.startsWith("src/") ? join(root, path) : join(HERE, "node_modules", path));
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }));
  const messages = output.errors ?? [];
  for (const message of messages) console.error(message.formattedMessage);
  // Warnings too: code that moves money must have none.
  if (messages.length > 0) throw new Error(`${messages.length} message(s) of the compiler`);
  return output.contracts;
}

function read(file) {
  try {
    return { contents: readFileSync(file, "utf8") };
  } catch (error) {
    return { error: error.message };
  }
}

function artifacts(contracts, sources = SOURCES) {
  return new Map(
    sources.map((path) => {
      const contractName = path.slice(path.lastIndexOf("/") + 1, -".sol".length);
      const { abi, evm } = contracts[path][contractName];
      const artifact = {
        contractName,
        compiler: solc.version(),
        settings: SETTINGS,
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        deployedBytecode: `0x${evm.deployedBytecode.object}`,
      };
      return [`${contractName}.json`, `${JSON.stringify(artifact, null, 2)}\n`];
    }),
  );
}

function write(built, to = ARTIFACTS) {
  mkdirSync(to, { recursive: true });
  for (const [name, text] of built) writeFileSync(join(to, name), text);
}

function differences(built, from = ARTIFACTS) {
  const committed = readdirSync(from).filter((name) => name !== "src");
  const strangers = committed.filter((name) => !built.has(name)).map((name) => `${name}: no source gives it`);
  const changed = [...built]
    .filter(([name, text]) => !committed.includes(name) || readFileSync(join(from, name), "utf8") !== text)
    .map(([name]) => `${name} in ${from}: does not match the sources; run node build.mjs`);
  return [...strangers, ...changed];
}

function controller(root) {
  const sources = SOURCES.slice(0, 1);
  return artifacts(compile(sources, root), sources);
}

function main([mode, ...directories]) {
  if (mode === "--controllers") {
    for (const root of directories) write(controller(root), root);
    return;
  }
  const built = artifacts(compile());
  if (mode !== "--check") {
    write(built);
    console.log(`${built.size} artifacts written (solc ${solc.version()})`);
    return;
  }
  const released = readdirSync(RELEASED).map((version) => join(RELEASED, version));
  const found = [...differences(built), ...released.flatMap((root) => differences(controller(root), root))];
  for (const line of found) console.error(line);
  if (found.length > 0) process.exit(1);
  console.log(`${built.size} artifacts and ${released.length} released controllers match their sources (solc ${solc.version()})`);
}

main(process.argv.slice(2));
