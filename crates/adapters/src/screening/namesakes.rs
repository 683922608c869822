//! Well-known names that differ by a letter or two: `Khalid` and `Khalil`, `Ahmad` and `Ahmadi`. It
//! works on words, and scores nothing.

use super::normal::{canonical, is_in, is_known, sound};
use super::words::OTHER_VOWELS;

/// Endings that make a family name of a given name.
const ENDINGS: [&str; 16] = [
    "i", "y", "ov", "ova", "ev", "eva", "ow", "zai", "zada", "zade", "zadeh", "pour", "ian", "yan",
    "oglu", "uly",
];
/// Further names that are one letter away from another.
const FURTHER: &[&str] = &[
    "adhikari",
    "adil",
    "alam",
    "ali",
    "amal",
    "amir",
    "amjad",
    "anil",
    "anita",
    "anjum",
    "aqeel",
    "aquino",
    "arun",
    "asha",
    "ashok",
    "atif",
    "awais",
    "awan",
    "ayesha",
    "azeem",
    "azhar",
    "aziz",
    "babu",
    "bagher",
    "balushi",
    "bandar",
    "bandara",
    "bashar",
    "bashir",
    "basir",
    "bhandari",
    "bhatt",
    "bikash",
    "busaidi",
    "butt",
    "carlos",
    "castillo",
    "castro",
    "cheema",
    "christian",
    "dahal",
    "danilo",
    "dar",
    "deepak",
    "diaz",
    "diego",
    "dinesh",
    "dizon",
    "domingo",
    "dosari",
    "eduardo",
    "emilio",
    "ernesto",
    "fadi",
    "fahad",
    "faheem",
    "fahim",
    "faris",
    "farook",
    "fazil",
    "felipe",
    "ferdous",
    "fernandez",
    "fernando",
    "flores",
    "gabriel",
    "ganesh",
    "george",
    "ghamdi",
    "gill",
    "gita",
    "gomez",
    "gondal",
    "gonzalez",
    "gopal",
    "habib",
    "hadi",
    "hafsa",
    "hakim",
    "hamad",
    "hamid",
    "hana",
    "haneef",
    "hani",
    "harbi",
    "hari",
    "hashim",
    "hashimi",
    "haya",
    "hector",
    "herath",
    "hernandez",
    "hiba",
    "hinai",
    "idris",
    "ilyas",
    "isa",
    "ivan",
    "jabir",
    "jalil",
    "jamil",
    "jasmin",
    "jatt",
    "javier",
    "jawad",
    "jorge",
    "joseph",
    "joshua",
    "kaabi",
    "kainat",
    "kaleem",
    "kamal",
    "kamil",
    "karim",
    "karki",
    "karthik",
    "ketbi",
    "khadka",
    "khalil",
    "khattak",
    "khurram",
    "kiani",
    "kiran",
    "krishna",
    "kumara",
    "kuwari",
    "laila",
    "lama",
    "lata",
    "latifa",
    "limbu",
    "lodhi",
    "lopez",
    "magar",
    "maha",
    "mahar",
    "mahesh",
    "majid",
    "majida",
    "maktoum",
    "malhotra",
    "manalo",
    "mani",
    "mansoori",
    "mansur",
    "mansuri",
    "mariam",
    "mario",
    "mark",
    "marri",
    "martinez",
    "marwa",
    "marwan",
    "maryam",
    "maulana",
    "mazrouei",
    "mehmood",
    "memon",
    "mendis",
    "mendoza",
    "mercado",
    "miah",
    "michael",
    "miguel",
    "minhas",
    "mohan",
    "moin",
    "mondal",
    "monir",
    "mughal",
    "muneeb",
    "nabil",
    "nadia",
    "nadim",
    "nadir",
    "najib",
    "nasim",
    "nasir",
    "nasr",
    "nasreen",
    "nasser",
    "navarro",
    "nawab",
    "nazeer",
    "neha",
    "niazi",
    "noor",
    "noura",
    "nuaimi",
    "ocampo",
    "omar",
    "oscar",
    "owais",
    "pablo",
    "panganiban",
    "pascual",
    "paul",
    "perera",
    "perez",
    "pillai",
    "poudel",
    "prakash",
    "priya",
    "qahtani",
    "rabia",
    "rafael",
    "rahim",
    "raj",
    "raja",
    "rajesh",
    "rajput",
    "rakesh",
    "ram",
    "ramesh",
    "ramirez",
    "ramon",
    "ramos",
    "rana",
    "rania",
    "rashid",
    "rashida",
    "rathore",
    "raul",
    "ravi",
    "ray",
    "reena",
    "rekha",
    "rene",
    "rida",
    "rina",
    "roberto",
    "rodriguez",
    "rohan",
    "rohit",
    "roman",
    "rosa",
    "rosalie",
    "roy",
    "ruben",
    "saba",
    "sabah",
    "sabina",
    "sabir",
    "sadia",
    "sadiq",
    "saif",
    "saima",
    "saini",
    "sakina",
    "salam",
    "salazar",
    "salman",
    "sameera",
    "samina",
    "samir",
    "sana",
    "sanchez",
    "sanjay",
    "santiago",
    "santosh",
    "sara",
    "sardar",
    "sarkar",
    "seema",
    "sergio",
    "sethi",
    "shabana",
    "shahid",
    "shaikh",
    "shaji",
    "shakeel",
    "shakir",
    "shams",
    "shamsi",
    "shankar",
    "shazia",
    "shehri",
    "sheikh",
    "sherpa",
    "shiva",
    "shrestha",
    "sibtain",
    "sikdar",
    "silva",
    "sita",
    "sobhan",
    "sohrab",
    "sonia",
    "sood",
    "soomro",
    "soriano",
    "subedi",
    "sunil",
    "sunita",
    "suresh",
    "suwaidi",
    "tahir",
    "taimur",
    "talib",
    "tandon",
    "tariq",
    "tayyab",
    "thakur",
    "thani",
    "thomas",
    "torres",
    "ubaid",
    "umair",
    "usha",
    "uzma",
    "valdez",
    "varma",
    "victor",
    "vijay",
    "villanueva",
    "vishnu",
    "wafa",
    "wahid",
    "waleed",
    "walid",
    "waseem",
    "yousra",
    "zaheer",
    "zahid",
    "zahir",
    "zahrani",
    "zainab",
    "zara",
    "zeeshan",
];

/// Whether a screened word `x` is well known, and not the listed one in another spelling: of two well-known
/// names neither is the other, and a well-known one is not a mistyped word with other consonants.
pub(super) fn is_other(x: &[char], y: &[char]) -> bool {
    let is_of_one_sound = sound(x) == sound(y);
    let (a, b): (String, String) = (x.iter().collect(), y.iter().collect());
    // `h` is often silent.
    let bare = |word: &str| consonants(word).replace(['h', 'a'], "");
    a != b
        && match (is_name(&a), is_name(&b)) {
            (true, true) => !is_one(&a, &b, is_of_one_sound),
            (true, false) => !is_of_one_sound && bare(&a) != bare(&b) && !is_derived(&b, &a),
            (false, _) => false,
        }
}

/// Whether a word is a well-known name.
pub(super) fn is_well_known(word: &[char]) -> bool {
    is_name(&word.iter().collect::<String>())
}

/// Whether a word is a well-known name, alone or as the first part of another: `Saiful` of `Saiful Islam`.
fn is_name(word: &str) -> bool {
    let is_named = |word: &str| is_known(word) || is_in(FURTHER, word);
    is_named(word) || word.strip_suffix("ul").is_some_and(is_named)
}

/// Whether two well-known names are one in two spellings (`Fazal` and `Fazil`, `Murtaza` and `Murtada`).
fn is_one(x: &str, y: &str, is_of_one_sound: bool) -> bool {
    (is_of_one_sound || consonants(x) == consonants(y)) && !is_distinct(x, y)
}

/// Whether two words are one name in two spellings: well-known ones of one sound (`Fazal` and `Fazil`), or alike
/// but for letters that are written for each other (`Uways` and `Awais`).
pub(super) fn is_respelled(x: &[char], y: &[char]) -> bool {
    let is_alike = ['i', 'a'].into_iter().any(|e| respelled(x, e) == respelled(y, e));
    let is_of_one_sound = sound(x) == sound(y);
    let (x, y): (String, String) = (x.iter().collect(), y.iter().collect());
    is_alike || is_of_one_sound && is_name(&x) && is_name(&y) && !is_distinct(&x, &y)
}

/// A word with one of the letters that are written for each other: `i` for `ee` and `y`, `u` for `o` and `oo`, `k`
/// for `q`, `w` for `v`, `j` for `dj`, and one of two for `e`; of doubled letters one. A vowel before `w` begins
/// `Owais` as `a` does `Awais`.
fn respelled(word: &[char], e: char) -> String {
    let word: String = word.iter().collect();
    let word = word.replace("ei", "ai").replace("ey", "ai").replace("dj", "j").replace("ee", "i");
    let mut letters: Vec<char> = (word.chars())
        .map(|letter| match letter {
            'e' => e,
            'y' => 'i',
            'o' => 'u',
            'q' => 'k',
            'v' => 'w',
            other => other,
        })
        .collect();
    letters.dedup();
    if let ['u', 'w', ..] = *letters {
        letters[0] = 'a';
    }
    letters.into_iter().collect()
}

/// Whether two well-known names of the same consonants are two: `Hamad` and `Hamid`.
fn is_distinct(x: &str, y: &str) -> bool {
    OTHER_VOWELS.iter().any(|names| names.contains(&x) && names.contains(&y))
}

/// The consonants of a word, of doubled ones one, and whether it begins with a vowel. Cyrillic writes `h`
/// as `kh`, and `g` between vowels; `d` and `z` are one Arabic letter in many names.
fn consonants(word: &str) -> String {
    let is_vowel = |letter: &char| matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    let letters: Vec<char> = word.replace("kh", "h").chars().collect();
    let is_vowel_at = |at: usize| letters.get(at).is_some_and(is_vowel);
    let mut consonants = String::new();
    // Doubled letters are one, `z` and `d` of `Shahzad` are two.
    let mut before = None;
    for (at, letter) in letters.iter().enumerate() {
        let folded = match letter {
            'w' => continue,
            vowel if is_vowel(vowel) && at == 0 => 'a',
            vowel if is_vowel(vowel) => continue,
            'g' if at > 0 && is_vowel_at(at - 1) && is_vowel_at(at + 1) => 'h',
            'z' => 'd',
            other => *other,
        };
        if before.replace(letter) != Some(letter) {
            consonants.push(folded);
        }
    }
    consonants
}

/// Whether two words of other letters are both well known, so that neither is the other mistyped.
pub(super) fn are_two(x: &[char], y: &[char]) -> bool {
    let is_of_one_sound = sound(x) == sound(y);
    let (x, y): (String, String) = (x.iter().collect(), y.iter().collect());
    let is_name = |word: &str| is_known(word) || is_in(FURTHER, word);
    match (is_name(&x), is_name(&y)) {
        (true, true) => !is_one(&x, &y, is_of_one_sound),
        (true, false) => is_derived(&y, &x),
        (false, true) => is_derived(&x, &y),
        (false, false) => false,
    }
}

/// Whether a word is a given name with an ending.
fn is_derived(word: &str, name: &str) -> bool {
    let mut stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    stems.any(|stem| canonical(stem) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_well_known_names_are_not_one_mistyped() {
        assert!(FURTHER.is_sorted());
        let are_two = |x: &str, y: &str| {
            are_two(&x.chars().collect::<Vec<_>>(), &y.chars().collect::<Vec<_>>())
        };
        for (x, y) in [
            ("khalid", "khalil"),
            ("ahmad", "ahmadi"),
            ("muhammad", "ahmad"),
            ("mahmud", "muhammad"),
            ("mohammadi", "muhammad"),
            ("karim", "karimov"),
            ("rahim", "rahman"),
            ("ali", "aliyev"),
            ("salim", "salam"),
            ("hamid", "hamad"),
            ("shahid", "shahzad"),
            ("fernando", "fernandez"),
        ] {
            assert_eq!(are_two(x, y), y != "aliyev", "{x} {y}");
            assert_eq!(are_two(y, x), y != "aliyev", "{y} {x}");
        }
        for (x, y) in [
            ("khalid", "khalib"),
            ("zorblax", "zorblas"),
            ("petrov", "petrova"),
            ("muhammad", "muhammd"),
            ("quibbleton", "quibletoni"),
        ] {
            assert!(!are_two(x, y), "{x} {y}");
        }
    }

    #[test]
    fn one_name_in_two_spellings_is_not_two_names() {
        let is_respelled = |x: &str, y: &str| {
            let (x, y): (Vec<char>, Vec<char>) = (x.chars().collect(), y.chars().collect());
            is_respelled(&x, &y)
        };
        for (x, y, is_one) in [
            ("fahim", "faheem", true),
            ("owais", "awais", true),
            ("uways", "awais", true),
            ("oveis", "awais", true),
            ("nazir", "nazeer", true),
            ("aqil", "aqeel", true),
            ("atef", "atif", true),
            ("faroq", "farook", true),
            ("kiyani", "kiani", true),
            ("azher", "azhar", true),
            ("amjed", "amjad", true),
            ("merwan", "marwan", true),
            ("serdar", "sardar", true),
            ("tayeb", "tayyab", true),
            ("djalil", "jalil", true),
            ("fazal", "fazil", true),
            ("kaani", "kiani", false),
            ("dhass", "das", false),
            ("moalla", "mollah", false),
            ("fazul", "fazil", false),
            ("hamad", "hamid", false),
            ("khalid", "khalil", false),
        ] {
            assert_eq!(is_respelled(x, y), is_one, "{x} {y}");
            assert_eq!(is_respelled(y, x), is_one, "{y} {x}");
        }
    }
}
