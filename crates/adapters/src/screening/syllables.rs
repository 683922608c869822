//! Korean and Chinese names by their syllables, however a system writes them: `Kim Yong Chol` and `Gim
//! Yeong-cheol`, `Mao Tse-tung` and `Mao Zedong`. It works on written text, and scores nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::letters::{is_of_word, plain};
use super::normal::is_in;
use super::titles::HONORIFICS;

/// `data/family_names.txt` says what is in it.
const FAMILIES: &str = include_str!("../../data/family_names.txt");
/// How many syllables a given name has: a single one is that of too many people.
const SYLLABLES: usize = 2;

/// The classes of sounds, each with its spellings.
type Table = &'static [(&'static str, &'static str)];

const KOREAN_INITIALS: Table = &[
    ("", ""),
    ("K", "kk k g gg kh"),
    ("T", "tt t d dd th"),
    ("P", "pp p b bb ph"),
    ("C", "jj j ch tch"),
    ("S", "ss s sh"),
    ("M", "m"),
    ("N", "n"),
    ("R", "r l"),
    ("H", "h"),
];
const KOREAN_VOWELS: Table = &[
    ("A", "a ah"),
    ("E", "ae ai ay e eh"),
    ("YA", "ya yah"),
    ("YE", "ye yae"),
    ("O", "eo o oh uh u"),
    ("U", "u oo ou eu woo wu"),
    ("YO", "yeo yo you yu"),
    ("YU", "you yu yoo"),
    ("WE", "oe oi we wae"),
    ("WI", "wi wee"),
    ("WA", "wa"),
    ("WO", "wo weo"),
    ("I", "i ee ui eui yi"),
];
const KOREAN_FINALS: Table = &[
    ("", ""),
    ("K", "k g ck"),
    ("N", "n"),
    ("L", "l r"),
    ("M", "m"),
    ("P", "p b"),
    ("NG", "ng"),
    ("T", "t s"),
];
const CHINESE_INITIALS: Table = &[
    ("", ""),
    ("P", "b p"),
    ("M", "m"),
    ("F", "f"),
    ("T", "d t"),
    ("N", "n"),
    ("L", "l"),
    ("K", "g k"),
    ("H", "h"),
    ("C", "zh ch j q"),
    ("R", "j r"),
    ("X", "x hs"),
    ("SH", "sh"),
    ("S", "s ss sz"),
    ("Z", "z c ts tz"),
    ("Y", "y"),
    ("W", "w"),
];
const CHINESE_FINALS: Table = &[
    ("a", "a"),
    ("o", "o uo"),
    ("e", "o e eh"),
    ("ai", "ai"),
    ("ei", "ei"),
    ("ao", "ao"),
    ("ou", "ou"),
    ("an", "an"),
    ("en", "en"),
    ("ang", "ang"),
    ("eng", "eng"),
    ("ong", "ong ung"),
    ("i", "i ih"),
    ("ia", "ia"),
    ("ie", "ie ieh"),
    ("iao", "iao"),
    ("iu", "iu iou"),
    ("ian", "ian ien"),
    ("in", "in"),
    ("iang", "iang"),
    ("ing", "ing"),
    ("iong", "iong iung"),
    ("u", "u"),
    ("ua", "ua"),
    ("uai", "uai"),
    ("uan", "uan"),
    ("uang", "uang"),
    ("ui", "ui uei"),
    ("un", "un uen"),
    ("ue", "ue ueh"),
    ("er", "er erh"),
];

/// The rows of each spelling of a family name, with the language of each.
static ROWS: LazyLock<HashMap<&str, Vec<(char, usize)>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<(char, usize)>> = HashMap::new();
    for (at, row) in FAMILIES.lines().filter(|row| !row.starts_with('#')).enumerate() {
        let Some((language, names)) = row.split_once(' ') else { continue };
        let language = language.chars().next().unwrap_or_default();
        for name in names.split(' ') {
            rows.entry(name).or_default().push((language, at));
        }
    }
    rows
});

/// The keys of a name: its family name, first or last, with the syllables of its given name. None if
/// it is neither Korean nor Chinese.
pub(super) fn keys(text: &str) -> BTreeSet<String> {
    let words: Vec<String> = text
        .split(|letter| !is_of_word(letter))
        .map(plain)
        .filter(|word| !word.is_empty() && !is_in(HONORIFICS, word))
        .collect();
    if !(2..=SYLLABLES + 1).contains(&words.len())
        || words.iter().any(|word| !word.bytes().all(|it| it.is_ascii_lowercase()))
    {
        return BTreeSet::new();
    }
    let mut keys = BTreeSet::new();
    let (last, before) = (&words[words.len() - 1], &words[..words.len() - 1]);
    for (family, given) in [(&words[0], &words[1..]), (last, before)] {
        for (language, row) in ROWS.get(family.as_str()).into_iter().flatten() {
            let syllable = if *language == 'k' { korean } else { chinese };
            keys.extend(readings(given, syllable).into_iter().map(|it| format!("{row} {it}")));
        }
    }
    keys
}

/// The readings of a given name of two syllables, in one word or in two.
fn readings(given: &[String], syllable: fn(&str) -> Vec<String>) -> Vec<String> {
    let both = |first: &str, second: &str| {
        let second = syllable(second);
        let first = syllable(first).into_iter();
        first.flat_map(|it| second.iter().map(move |next| format!("{it}-{next}"))).collect()
    };
    match given {
        [first, second] => both(first, second),
        [word] => (1..word.len())
            .flat_map(|cut| -> Vec<String> {
                let (first, second) = word.split_at(cut);
                both(first, second)
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// The classes in a table with which a word may begin, and what follows each.
fn beginnings(word: &str, table: Table) -> impl Iterator<Item = (&'static str, &str)> {
    table.iter().flat_map(move |(class, spellings)| {
        spellings.split(' ').filter_map(move |it| Some((*class, word.strip_prefix(it)?)))
    })
}

/// The readings of a Korean syllable.
fn korean(word: &str) -> Vec<String> {
    let mut readings = Vec::new();
    for (initial, rest) in beginnings(word, KOREAN_INITIALS) {
        for (vowel, rest) in beginnings(rest, KOREAN_VOWELS) {
            for (end, _) in beginnings(rest, KOREAN_FINALS).filter(|(_, rest)| rest.is_empty()) {
                readings.push(format!("{initial}{vowel}{end}"));
                // The South leaves out what the North writes: `Ryong`, `Yong`.
                if initial == "R" && vowel.starts_with(['Y', 'I']) {
                    readings.push(format!("{vowel}{end}"));
                }
            }
        }
    }
    readings.sort_unstable();
    readings.dedup();
    readings
}

/// The readings of a Chinese syllable in Pinyin or Wade-Giles, without its apostrophes.
fn chinese(word: &str) -> Vec<String> {
    let mut readings = Vec::new();
    for (initial, rest) in beginnings(word, CHINESE_INITIALS) {
        for (end, _) in beginnings(rest, CHINESE_FINALS).filter(|(_, rest)| rest.is_empty()) {
            readings.push(format!("{initial}{end}"));
            let other = match (initial, end) {
                ("", "i") => "Yi",
                ("Y", "en") => "Yan",
                ("Y", "u") => "You",
                ("Z", "u") => "Zi",
                ("S", "u") => "Si",
                _ => continue,
            };
            readings.push(other.to_owned());
        }
    }
    readings.sort_unstable();
    readings.dedup();
    readings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_share_a_key() {
        for (name, others) in [
            (
                "Kim Yong Chol",
                &["Gim Yeong-cheol", "KIM Youngchul", "Young Chul Kim", "Kim Yŏng-ch'ŏl"][..],
            ),
            ("Ri Ryong Nam", &["Lee Yong-nam", "Yi Yong Nam", "Rhee Ryongnam"]),
            ("Pak Pong Ju", &["Park Bong-ju", "Bak Bongju", "Bong Joo Park"]),
            ("Choe Hwang Rim", &["Choi Hwang-rim", "Ch'oe Hwanglim"]),
            ("Jo Myong Rok", &["Cho Myung Rok", "Cho Myeong-rok"]),
            ("Mao Zedong", &["Mao Tse-tung", "MAO Tse Tung", "Mao Ze Dong"]),
            ("Zhou Enlai", &["Chou En-lai", "Chow En Lai"]),
            ("Xu Jianguo", &["Hsu Chien-kuo", "Hsü Chien Kuo"]),
            ("Chen Guangrong", &["Ch'en Kuang-jung", "Chan Kuang Jung", "Tan Guang Rong"]),
            ("Zhang Xueliang", &["Chang Hsueh-liang", "Cheung Hsüeh-liang"]),
        ] {
            for other in others {
                assert!(!keys(name).is_disjoint(&keys(other)), "{name} {other}");
            }
        }
        for (name, other) in [
            ("Kim Yong Chol", "Kim Yong Nam"),
            ("Kim Yong Chol", "Pak Yong Chol"),
            ("Mao Zedong", "Mao Zemin"),
            ("Mao Zedong", "Li Zedong"),
            ("Wang Jian", "Wong Chien"),
            ("Maria Santos", "Maria Santos"),
            ("Kim Kardashian West", "Kim Kardashian West"),
        ] {
            assert!(keys(name).is_disjoint(&keys(other)), "{name} {other}");
        }
    }
}
