//! Listed people without a comma in their names, beside titles of many languages, and their families.

use super::test_list::TestList;
use domain::screening::Verdict;
use std::sync::LazyLock;

const LIST: &str = r#"#corridor-sanctions name=ENDS published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,Nicolas Madurone Morosetti,,,,VEN,
2,person,Jose Antonio Etxebarruti Ordoqui,,,,ESP,
3,person,Maria Zambranales Quispero,,,,PER,
4,person,Ivan Petrovich Dubravintsev,,,,RUS,
5,person,"KOLBASANI, Tarek",,,,IRQ,
6,person,Yohannes Tesfamikaelos Gebrezghi,,,,ERI,
7,person,"KHAN, Anwar",,,,PAK,
8,person,"PAK, Chonghyok",,,,PRK,
9,person,"CORONEL, Mirvando",,,,MEX,
10,person,"AL-MUHANDIS, Zorvad",,,,IRQ,
11,person,"MBA, Ondovick",,,,GNQ,
12,person,Ato Kwesivando,,,,GHA,
13,person,"MAJ, Zbislav",,,,POL,
14,person,Sri Wahyundari,,,,IDN,
15,person,Ing. Ferdovan Castrumel,,,,MEX,
"#;

static TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(LIST, "ARE"));

#[test]
fn either_of_two_family_names_stands_for_a_name_without_a_comma() {
    for name in [
        "N. Madurone",
        "Nicolás Madurone",
        "Madurone, Nicolas",
        "Madurone Morosetti N.",
        "N. Madurone Morosetti",
        "N. Morosetti",
        "Nicolas Morosetti",
        "Nicolas Madurone Xavier",
        "Jose Etxebarruti",
        "Jose Antonio Etxebarruti",
        "J. A. Etxebarruti",
        "Etxebarruti, J.A.",
        "Pepe Etxebarruti",
        "Maria Zambranales",
        "M. Zambranales",
        "Ma. Zambranales",
        "Yohannes Tesfamikaelos",
        "Y. Tesfamikaelos",
        "NICOLASMADURONE",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
    TEST.assert_paid(&[
        "P. Madurone",
        "Madurone",
        "Pedro Madurone Lopez",
        "Jose Antonio Lopez",
        "Jose Antonio",
        "Ivan Petrovich Sokolov",
        "I. Petrovich",
        "Maria Antonia Lopez",
    ]);
}

#[test]
fn titles_of_many_languages_hide_no_name() {
    for title in [
        "Ato",
        "Drs.",
        "Ir.",
        "Pak",
        "Bapak",
        "Raden",
        "Mas",
        "Mg",
        "Ibu",
        "Woizero",
        "Hj.",
        "Ust.",
        "Dato",
        "Dato'",
        "Datin",
        "Kyai",
        "Ing.",
        "Dipl.-Ing.",
        "Arq.",
        "Ing",
        "Dott.",
        "Avv.",
        "Sig.",
        "Profesor",
        "Mons.",
        "Padre",
        "Gral.",
        "Cnel.",
        "Teniente",
        "Capitán",
        "Senhor",
        "Exmo.",
        "Senhora",
        "Maître",
        "Veuve",
        "Graf",
        "Freiherr",
        "Lord",
        "Lady",
        "Baron",
        "Pani",
        "Mevr.",
        "Hag",
        "El-Hagg",
        "Muhandis",
        "Allama",
        "Mallam",
        "Mzee",
        "Bwana",
        "Ginoong",
        "Gng.",
        "Mang",
        "Aling",
        "Kuya",
        "Bey",
        "Efendi",
        "Daw",
        "Maung",
        "CA",
        "Raden Mas",
        "Prof. Ir.",
        "Ibu Hj.",
    ] {
        for name in [
            format!("{title} Tarek Kolbasani"),
            format!("{title} T. Kolbasani"),
            format!("{title} N. Madurone"),
            format!("Tarek {title} Kolbasani"),
        ] {
            assert_ne!(TEST.verdict(&name), Verdict::Clean, "{name}");
        }
    }
    for suffix in ["MSc", "B.Sc.", "MBBS", "FCPS", "LLB", "CPA", "FCA", "M.Phil", "OBE", "(Ret)"] {
        let name = format!("T. Kolbasani {suffix}");
        assert_ne!(TEST.verdict(&name), Verdict::Clean, "{name}");
    }
    TEST.assert_stopped(&["Pak Chonghyok", "Chonghyok Pak", "PAK, Chonghyok"]);
    TEST.assert_paid(&[
        "Pak Sung Min",
        "Mas Agung",
        "Lord Khan",
        "Raden Saleh",
        "Ir. Budi Santoso",
    ]);
}

#[test]
fn titles_that_are_names_are_kept_in_listed_names() {
    for name in [
        "Mirvando Coronel",
        "Coronel Mirvando",
        "Zorvad al-Muhandis",
        "Ondovick Mba",
        "MBA ONDOVICK",
        "Ato Kwesivando",
        "Zbislav Maj",
        "Sri Wahyundari",
        "Ing. Ferdovan Castrumel",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Hit, "{name}");
    }
    for name in ["Coronel Mirvando Xavier", "Mba Ondovick Xavier", "Ferdovan Castrumel"] {
        assert_ne!(TEST.verdict(name), Verdict::Clean, "{name}");
    }
    TEST.assert_paid(&[
        "Mirvando Xavier",
        "Zorvad Xavier",
        "Ondovick",
        "Kwesivando Xavier",
        "Coronel",
    ]);
}

#[test]
fn the_family_and_the_heirs_of_a_person_hide_no_name() {
    for name in ["Tarek Kolbasani", "T. Kolbasani", "Nicolas Madurone", "N. Morosetti"] {
        for written in [
            format!("{name} family"),
            format!("{name} & family"),
            format!("{name} and Family"),
            format!("Family of {name}"),
            format!("The family of late {name}"),
            format!("Heirs of {name}"),
            format!("Legal heirs of {name}"),
            format!("{name} estate"),
            format!("{name} (deceased)"),
            format!("The Estate of {name}"),
            format!("Estate {name}"),
            format!("Familia {name}"),
            format!("Famille {name}"),
            format!("Herederos de {name}"),
            format!("{name} heirs"),
        ] {
            assert_ne!(TEST.verdict(&written), Verdict::Clean, "{written}");
        }
    }
    for name in [
        "Kolbasani family",
        "The Kolbasani Family",
        "Kolbasany family",
        "KOLBASANI ESTATE",
        "Heirs of Kolbasani",
        "Familia Madurone",
        "Madurone & family",
        "Morosetti Estate",
        "عائلة طارق كولباساني",
        "Семья Тарек Колбасани",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
    TEST.assert_paid(&[
        "Khan family",
        "Tarek family",
        "Kolbani family",
        "Family of Anwar Ali",
        "Estate of Maria Santos",
        "Petrovich family",
        "Family Mart",
    ]);
}
