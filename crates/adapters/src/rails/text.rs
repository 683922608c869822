//! Country codes, telephone numbers and e-mail addresses in ISO 20022 form. Characters are mapped
//! by `domain::rail_text`.
//!
//! It never fails: a value without a valid form is omitted. Stored values are never changed.

/// Telephone country codes of two digits (ITU-T E.164 Annex D); `1` and `7` have one, all others three.
const TWO_DIGIT_ZONES: [&str; 43] = [
    "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46", "47",
    "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63", "64", "65",
    "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95",
];

/// ISO 3166-1: every alpha-3 code followed by its alpha-2 code (as of 2026-02).
const COUNTRIES: &str = "\
    ABWAW AFGAF AGOAO AIAAI ALAAX ALBAL ANDAD AREAE ARGAR ARMAM ASMAS ATAAQ ATFTF ATGAG AUSAU AUTAT \
    AZEAZ BDIBI BELBE BENBJ BESBQ BFABF BGDBD BGRBG BHRBH BHSBS BIHBA BLMBL BLRBY BLZBZ BMUBM BOLBO \
    BRABR BRBBB BRNBN BTNBT BVTBV BWABW CAFCF CANCA CCKCC CHECH CHLCL CHNCN CIVCI CMRCM CODCD COGCG \
    COKCK COLCO COMKM CPVCV CRICR CUBCU CUWCW CXRCX CYMKY CYPCY CZECZ DEUDE DJIDJ DMADM DNKDK DOMDO \
    DZADZ ECUEC EGYEG ERIER ESHEH ESPES ESTEE ETHET FINFI FJIFJ FLKFK FRAFR FROFO FSMFM GABGA GBRGB \
    GEOGE GGYGG GHAGH GIBGI GINGN GLPGP GMBGM GNBGW GNQGQ GRCGR GRDGD GRLGL GTMGT GUFGF GUMGU GUYGY \
    HKGHK HMDHM HNDHN HRVHR HTIHT HUNHU IDNID IMNIM INDIN IOTIO IRLIE IRNIR IRQIQ ISLIS ISRIL ITAIT \
    JAMJM JEYJE JORJO JPNJP KAZKZ KENKE KGZKG KHMKH KIRKI KNAKN KORKR KWTKW LAOLA LBNLB LBRLR LBYLY \
    LCALC LIELI LKALK LSOLS LTULT LUXLU LVALV MACMO MAFMF MARMA MCOMC MDAMD MDGMG MDVMV MEXMX MHLMH \
    MKDMK MLIML MLTMT MMRMM MNEME MNGMN MNPMP MOZMZ MRTMR MSRMS MTQMQ MUSMU MWIMW MYSMY MYTYT NAMNA \
    NCLNC NERNE NFKNF NGANG NICNI NIUNU NLDNL NORNO NPLNP NRUNR NZLNZ OMNOM PAKPK PANPA PCNPN PERPE \
    PHLPH PLWPW PNGPG POLPL PRIPR PRKKP PRTPT PRYPY PSEPS PYFPF QATQA REURE ROURO RUSRU RWARW SAUSA \
    SDNSD SENSN SGPSG SGSGS SHNSH SJMSJ SLBSB SLESL SLVSV SMRSM SOMSO SPMPM SRBRS SSDSS STPST SURSR \
    SVKSK SVNSI SWESE SWZSZ SXMSX SYCSC SYRSY TCATC TCDTD TGOTG THATH TJKTJ TKLTK TKMTM TLSTL TONTO \
    TTOTT TUNTN TURTR TUVTV TWNTW TZATZ UGAUG UKRUA UMIUM URYUY USAUS UZBUZ VATVA VCTVC VENVE VGBVG \
    VIRVI VNMVN VUTVU WLFWF WSMWS XKXXK YEMYE ZAFZA ZMBZM ZWEZW";

/// ISO 3166-1 alpha-2 of a country given as alpha-2 or alpha-3; `None` for an unknown code.
pub fn alpha2(code: &str) -> Option<&'static str> {
    COUNTRIES.split(' ').find_map(|row| {
        let (alpha3, alpha2) = row.split_at_checked(3)?;
        (alpha3 == code || alpha2 == code).then_some(alpha2)
    })
}

/// ISO 3166-1 alpha-3 of a country given as alpha-2 or alpha-3; `None` for an unknown code.
pub(crate) fn alpha3(code: &str) -> Option<&'static str> {
    COUNTRIES.split(' ').find_map(|row| {
        let (alpha3, alpha2) = row.split_at_checked(3)?;
        (alpha3 == code || alpha2 == code).then_some(alpha3)
    })
}

/// An E.164 number in ISO 20022 form, with a hyphen after the country code (`+92-3001234567`).
pub(super) fn phone(number: &str) -> Option<String> {
    let digits = number.strip_prefix('+')?;
    if !(4..=15).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let zone = match &digits[..2] {
        two if two.starts_with(['1', '7']) => 1,
        "98" => 2,
        two if TWO_DIGIT_ZONES.contains(&two) => 2,
        _ => 3,
    };
    let (zone, rest) = digits.split_at(zone);
    Some(format!("+{zone}-{rest}"))
}

/// An e-mail address, if it is pure ASCII and no longer than RFC 5321 allows.
pub(super) fn email(address: &str) -> Option<&str> {
    (address.len() <= 254 && address.contains('@') && address.bytes().all(|b| b.is_ascii_graphic()))
        .then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_known_by_both_codes() {
        assert_eq!(alpha2("PAK"), Some("PK"));
        assert_eq!(alpha2("PK"), Some("PK"));
        assert_eq!(alpha2("ARE"), Some("AE"));
        for wrong in ["", "XXX", "pak", "PAKPK", "KP AK"] {
            assert_eq!(alpha2(wrong), None, "{wrong}");
        }
        // Kosovo's user-assigned code too.
        assert_eq!(COUNTRIES.split(' ').count(), 250);
        assert!(COUNTRIES.split(' ').all(|row| row.len() == 5));
    }

    #[test]
    fn numbers_get_their_hyphen() {
        for (number, said) in [
            ("+923001234567", Some("+92-3001234567")),
            ("+971501234567", Some("+971-501234567")),
            ("+12025550123", Some("+1-2025550123")),
            ("+989123456789", Some("+98-9123456789")),
            ("923001234567", None),
            ("+92 300", None),
            ("+", None),
        ] {
            assert_eq!(phone(number).as_deref(), said, "{number}");
        }
    }
}
