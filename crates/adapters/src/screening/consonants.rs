//! A name by its consonants, in classes coarse enough that Arabic, Urdu, Hindi, Nepali and Bengali
//! spellings match the Latin ones: those scripts omit short vowels, and one letter stands for
//! several Latin ones.
//!
//! Classes: `b` b p · `f` f v ph · `k` k g q c kh gh · `z` z j zh · `s` · `š` sh ch · `t` · `d` ·
//! `r` · `l` · `m` · `n`; vowels, h, w, y, ayn and hamza are left out. The similarity of two names
//! is computed elsewhere.

use icu_properties::props::Script;

/// Maximum number of keys of one word: each ambiguous letter doubles them.
const MAX_KEYS: usize = 96;

/// The keys of a word in Latin letters, in lower case without marks.
pub(super) fn of_latin(word: &[char]) -> Vec<String> {
    let mut keys = Keys::new();
    let mut at = 0;
    while let Some(letter) = word.get(at) {
        let (classes, taken) = latin_class(*letter, &word[at + 1..]);
        // A doubled letter is one sound.
        let doubled = at > 0 && word[at - 1] == *letter && taken == 1;
        if !doubled {
            keys.push(classes);
        }
        at += taken;
    }
    keys.finish()
}

/// The classes of a letter, and how many letters they cover.
fn latin_class(letter: char, rest: &[char]) -> (&'static [&'static str], usize) {
    let next = rest.first().copied();
    let soft = matches!(next, Some('e' | 'i' | 'y'));
    match (letter, next, rest.get(1)) {
        ('s', Some('c'), Some('h')) | ('t', Some('s' | 'c'), Some('h')) => (&["š"], 3),
        ('s' | 'c', Some('h'), _) => (&["š"], 2),
        ('k', Some('s'), Some('h')) => (&["kš", "ks"], 3),
        ('z' | 'd', Some('h'), _) => (if letter == 'z' { &["z"] } else { &["d"] }, 2),
        ('d', Some('z' | 'j'), _) => (&["z"], 2),
        ('q', Some('u'), _) => (&["k", "kf"], 2),
        ('p', Some('h'), _) => (&["f"], 2),
        ('c', ..) if soft => (&["s", "k"], 1),
        ('g', ..) if soft => (&["k", "z"], 1),
        ('x', ..) => (&["ks", "kš"], 1),
        ('b' | 'p', ..) => (&["b"], 1),
        ('f' | 'v', ..) => (&["f"], 1),
        ('k' | 'g' | 'q' | 'c', ..) => (&["k"], 1),
        ('z' | 'j', ..) => (&["z"], 1),
        ('s', ..) => (&["s"], 1),
        ('t', ..) => (&["t"], 1),
        ('d', ..) => (&["d"], 1),
        ('r', ..) => (&["r"], 1),
        ('l', ..) => (&["l"], 1),
        ('m', ..) => (&["m"], 1),
        ('n', ..) => (&["n"], 1),
        _ => (&[""], 1),
    }
}

/// The keys of a word in Arabic, Persian or Urdu letters; with and without its article.
pub(super) fn of_arabic(word: &str) -> Vec<String> {
    const ARTICLE: &str = "ال";
    let mut keys = arabic_keys(word);
    if let Some(bare) = word.strip_prefix(ARTICLE).filter(|bare| bare.chars().count() >= 2) {
        keys.extend(arabic_keys(bare));
    }
    keys
}

fn arabic_keys(word: &str) -> Vec<String> {
    let mut keys = Keys::new();
    for letter in word.chars() {
        keys.push(match letter {
            'ب' | 'پ' | 'ٻ' | 'ڀ' | 'ݕ' => &["b"],
            'ڦ' => &["f", "b"],
            'ت' | 'ط' | 'ٹ' | 'ټ' | 'ٽ' | 'ٿ' | 'ٺ' => &["t"],
            'ة' | 'ۃ' => &["", "t"],
            'ث' => &["s", "t"],
            'ج' => &["z", "k"],
            'ڄ' => &["z"],
            // Pashto's `dz` and `ts`, and letters that sound differently in the north and the south.
            'ځ' => &["z", "dz"],
            'څ' => &["s", "ts"],
            'ښ' => &["š", "k"],
            'ږ' => &["z", "k"],
            'چ' | 'ش' | 'ڇ' | 'ۺ' => &["š"],
            'خ' | 'غ' | 'ق' | 'ك' | 'ک' | 'گ' | 'ګ' | 'ڳ' | 'ڪ' | 'ڬ' | 'ݢ' | 'ڨ' | 'ڧ' | 'ۼ' => {
                &["k"]
            }
            'د' | 'ڈ' | 'ډ' | 'ڏ' | 'ڊ' | 'ڌ' | 'ڍ' | 'ۮ' => &["d"],
            'ذ' | 'ض' | 'ۻ' => &["z", "d"],
            'ر' | 'ڑ' | 'ړ' | 'ڕ' | 'ڙ' | 'ۯ' => &["r"],
            'ز' | 'ژ' | 'ظ' | 'ڗ' => &["z"],
            'س' | 'ص' => &["s"],
            'ف' | 'ڤ' | 'ڥ' | 'ڢ' => &["f"],
            'و' | 'ۋ' | 'ۏ' => &["", "f"],
            'ل' | 'ڵ' => &["l"],
            'م' => &["m"],
            'ن' | 'ں' | 'ڻ' | 'ڽ' | 'ڃ' | 'ݨ' => &["n"],
            'ڼ' => &["n", "r"],
            'ڱ' | 'ڭ' | 'ڠ' => &["nk", "n", "k"],
            _ => &[""],
        });
    }
    keys.finish()
}

/// The keys of a word in Hebrew letters.
pub(super) fn of_hebrew(word: &str) -> Vec<String> {
    let mut keys = Keys::new();
    for letter in word.chars() {
        keys.push(match letter {
            'ב' => &["b", "f"],
            'ג' | 'ק' | 'כ' | 'ך' | 'ח' => &["k"],
            'ד' => &["d"],
            'ו' => &["", "f"],
            'ז' => &["z"],
            'ט' | 'ת' => &["t"],
            'ל' => &["l"],
            'מ' | 'ם' => &["m"],
            'נ' | 'ן' => &["n"],
            'ס' => &["s"],
            'פ' | 'ף' => &["b", "f"],
            'צ' | 'ץ' => &["ts", "z"],
            'ר' => &["r"],
            'ש' => &["š", "s"],
            _ => &[""],
        });
    }
    keys.finish()
}

/// The keys of a word in one of the scripts of India, whose blocks share a layout: `letters` are
/// positions in the block, in decomposed form.
pub(super) fn of_indic(letters: &[u32], script: Script) -> Vec<String> {
    const VIRAMA: u32 = 0x4D;
    const NUKTA: u32 = 0x3C;
    let (is_bengali, is_tamil) = (script == Script::Bengali, script == Script::Tamil);
    let mut keys = Keys::new();
    for (at, letter) in letters.iter().enumerate() {
        // A consonant doubled by a virama is one sound.
        let doubled = at >= 2 && letters[at - 1] == VIRAMA && letters[at - 2] == *letter;
        let dotted = letters.get(at + 1) == Some(&NUKTA);
        let classes: &'static [&'static str] = match letter {
            _ if doubled => continue,
            // Tamil writes voiced and unvoiced consonants alike.
            0x15 if is_tamil => &["k", ""],
            0x1A if is_tamil => &["s", "š", "z"],
            0x1F | 0x24 if is_tamil => &["t", "d"],
            0x31 if is_tamil => &["r", "dr", "tr"],
            0x34 if is_tamil => &["l", "z"],
            0x01 => &["", "n"],
            0x02 => &["n", "m"],
            0x15..=0x18 => &["k"],
            0x19 | 0x1E | 0x23 | 0x28 | 0x29 => &["n"],
            0x1A | 0x1B => &["š"],
            0x1C | 0x1D => &["z"],
            0x1F | 0x20 | 0x24 | 0x25 | 0x4E => &["t"],
            0x21 | 0x22 if dotted => &["r", "d"],
            0x21 | 0x22 | 0x26 | 0x27 => &["d"],
            0x2A => &["b"],
            0x2B => &["f", "b"],
            0x2C => &["b"],
            0x2D => &["b", "f"],
            0x2E => &["m"],
            0x2F if is_bengali && !dotted => &["z", ""],
            0x30 | 0x31 => &["r"],
            0x32..=0x34 => &["l"],
            0x35 => &["f", ""],
            0x36 | 0x37 if is_bengali => &["š", "s"],
            0x36 | 0x37 => &["š"],
            0x38 if is_bengali => &["s", "š"],
            0x38 => &["s"],
            _ => &[""],
        };
        keys.push(classes);
    }
    keys.finish()
}

pub(super) fn joined(before: &str, after: &str) -> String {
    format!("{before}{after}")
}

struct Keys(Vec<String>);

impl Keys {
    fn new() -> Keys {
        Keys(vec![String::new()])
    }

    fn push(&mut self, classes: &[&str]) {
        let room = self.0.len() * classes.len() <= MAX_KEYS;
        let classes = if room { classes } else { &classes[..1] };
        let longer = |key: &String| {
            classes.iter().map(move |class| format!("{key}{class}")).collect::<Vec<_>>()
        };
        self.0 = self.0.iter().flat_map(longer).collect();
    }

    /// The keys; `tš` is how scripts without the sound write `ch`.
    fn finish(mut self) -> Vec<String> {
        for key in &mut self.0 {
            *key = key.replace("tš", "š");
        }
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}
