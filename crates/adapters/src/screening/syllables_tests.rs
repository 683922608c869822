//! Korean and Chinese names in the spellings of other systems and countries.

use super::test_list::TestList;
use domain::screening::Verdict;
use std::sync::LazyLock;

const LIST: &str = r#"#corridor-sanctions name=SYLLABLES published=2026-11-20
uid,kind,name,aliases,weak_aliases,birthdates,countries,addresses
1,person,"KIM, Pyong Thaek",,,,PRK,
2,person,"RI, Ryong Guk",,,,PRK,
3,person,"CHOE, Kwang Hyok",,,,PRK,
4,person,"PAK, Chung Gil",,,,PRK,
5,person,"ZHAO, Guangrong",,,,CHN,
6,person,"HSIEH, Chih-ch'iang",,,,TWN,
7,person,"XU, Xueping",,,,CHN,
8,person,"WANG, Jian",,,,CHN,
9,person,"MENG, Hongwei",,,,CHN,
10,person,"MENG, Wei",,,,CHN,
"#;

static TEST: LazyLock<TestList> = LazyLock::new(|| TestList::of(LIST, "ARE"));

#[test]
fn other_spellings_of_all_syllables_go_to_review() {
    for name in [
        "Kim Byeong-taek",
        "Kim Byung Taek",
        "Byung-Taek Kim",
        "Gim Byeongtaek",
        "Mr. Kim Byungtaek",
        "Lee Yong-guk",
        "Yong Kuk Lee",
        "Yi Yong-kuk",
        "Rhee Ryong Kuk",
        "Li Ryong Kuk",
        "Choi Gwang-hyeok",
        "Kwang Hyuk Choi",
        "Choi Kwanghyuk",
        "Park Jung-gil",
        "Park Jeong Kil",
        "Bak Jeonggil",
        "Chao Kuang-jung",
        "Chiu Kuang Jung",
        "Xie Zhiqiang",
        "Tse Chih Chiang",
        "Zhiqiang Xie",
        "Hsu Hsueh-p'ing",
        "Hsü Hsüeh-ping",
        "Xueping Hsu",
        "Meng Hung-wei",
        "Mang Hongwei",
        "Meng Hongwei Li",
    ] {
        assert_eq!(TEST.verdict(name), Verdict::Review, "{name}");
    }
}

#[test]
fn a_family_name_that_is_a_degree_is_kept() {
    for name in ["Meng Hongwei", "Hongwei Meng", "MENG, Hongwei", "Meng Wei", "Wei Meng"] {
        assert_eq!(TEST.verdict(name), Verdict::Hit, "{name}");
    }
    TEST.assert_paid(&["Zhang Hongwei", "Hongwei", "Li Wei"]);
}

#[test]
fn other_syllables_and_other_families_are_paid() {
    TEST.assert_paid(&[
        "Park Byung Taek",
        "Kim Byung Soo",
        "Kim Sung Taek",
        "Lee Yong Soo",
        "Lee Min-ho",
        "Choi Gwang Soo",
        "Park Jung Min",
        "Chao Ming",
        "Wong Chien",
        "Chen Zhiqiang",
        "Xie Zhiming",
        "Hsu Mei-ling",
        "Tan Wei Jie",
        "Lim Mei Ling",
        "Wang Xiaoming",
        "Wong Ka Ming",
    ]);
}
