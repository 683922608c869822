//! Given names in other usual forms, beside the listed family name and beside others.

use super::test_list::TestList;
use domain::screening::Verdict;
use std::sync::LazyLock;

const LIST: &str = r#"#corridor-sanctions name=NICKNAMES published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"HARGROVEN, William Robert",,,,USA,
2,person,"BOUTSKOV, Alexander",,,,RUS,
3,person,"ZELINKOVA, Yekaterina Ivanovna",,,,RUS,
4,person,"ETXEBARRUTI, Francisco Javier",,,,ESP,
5,person,"QUINTANARES, Jose",,,,MEX,
6,person,"DRAGONETTI, Giuseppe",,,,ITA,
7,person,"VERSTRAETENS, Johannes Wilhelmus",,,,NLD,
8,person,"ZAWBARI, Ishaq Yusuf",,,,IRQ,
9,person,"BEN-KARQUR, Yitzhak",,,,ISR,
10,person,"MANALASTROS, Maria Guadalupe",,,,PHL,
11,person,"PROKOVTSEV, Dmitry Yevgenievich",,,,RUS,
12,person,"TSAKALIDIS, Konstantinos",,,,GRC,
13,person,"THORNQUIST, Elizabeth",,,,GBR,
14,person,"YILMAZOGLAN, Ibrahim",,,,TUR,
15,person,"GARCIA, Francisco",,,,MEX,
16,person,Charles Thomas Wickerman,,,,GBR,
"#;

static TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(LIST, "ARE"));

#[test]
fn another_form_of_the_given_name_goes_to_review() {
    for (family, given) in [
        ("Hargroven", "Bill Billy Will Willy Wm. Liam Wilhelm Guillermo Guglielmo"),
        ("Boutskov", "Sasha Sandy Alex Alejandro Alessandro Iskander Shura Sascha Xander"),
        ("Zelinkova", "Katya Kate Katie Catherine Kathy Caterina Katarina Katja"),
        ("Etxebarruti", "Paco Pancho Fco. Francis Frank Franz Francesco Quico Frankie"),
        ("Quintanares", "Pepe Pepito Joseph Joe Giuseppe Yusuf Jozef Joselito"),
        ("Dragonetti", "Beppe Peppe Pino Joe Joseph Jose Josef Jos."),
        ("Verstraetens", "Jan Hans John Johann Juan Ivan Joh. Giovanni Jack Hansi"),
        ("Zawbari", "Isaac Yitzhak Itzhak Isak"),
        ("Karqur", "Isaac Ishaq Ike Izhak"),
        ("Manalastros", "Lupita Lupe Gpe. Mary Mariam Miriam Maryam"),
        ("Prokovtsev", "Dima Mitya Demetrius Dimitris"),
        ("Tsakalidis", "Kostas Kostya Konstantin Gus Constantine"),
        ("Thornquist", "Liz Beth Betty Lisa Eliza Isabel Elisabeth Libby"),
        ("Yilmazoglan", "Abe Avi Bram Ibo"),
        ("Wickerman", "Charlie Chuck Chas. Carlos Karl"),
    ] {
        for given in given.split(' ') {
            for name in [
                format!("{given} {family}"),
                format!("{family}, {given}"),
                format!("Mr {given} {}", family.to_uppercase()),
            ] {
                assert_eq!(TEST.verdict(&name), Verdict::Review, "{name}");
            }
        }
    }
    for name in [
        "Bill R. Hargroven",
        "Bill Bob Hargroven",
        "William Bob Hargroven",
        "Bob Hargroven",
        "Katya I. Zelinkova",
        "Paco Javier Etxebarruti",
        "Francisco Xavier Etxebarruti",
        "Katie Ivanovna Zelinkova",
        "Саша Бутсков",
        "Isaac Joseph Zawbari",
        "Tom Wickerman Chas",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
}

#[test]
fn forms_of_given_names_beside_other_family_names_are_paid() {
    TEST.assert_paid(&[
        "Bill Robertson",
        "Bill Hargrave",
        "James Hargroven",
        "Kate Zelinski",
        "Boris Boutskov",
        "Paco Garcia",
        "Pancho Garcia",
        "Joseph Yusuf",
        "John Johnson",
        "Hans Verstappen",
        "Isaac Newton",
        "Alexandra Petrova",
        "Dima Prokofiev",
        "Liz Thornton",
        "Peter Tsakalidis",
        "Mary Wickerman",
        "Ivan Ivanov",
        "Maria Guadalupe Santos",
    ]);
}
