//! What a bank says of a payment's outcome: that it was made, that it is
//! open, that the other bank did not answer. Words count together in one clause. Pure functions.

mod latin;

use super::repetition;

/// Words of a language, in its own script; one that starts with a space starts a word.
struct Language {
    /// Nouns for the payment and the money, and "before".
    payments: &'static [&'static str],
    /// Ends of sentences that say that something was done.
    done: &'static [&'static str],
    /// "Deposited": done, also to an account.
    deposited: &'static [&'static str],
    /// "Pending", "under review", "waiting".
    open: &'static [&'static str],
    answers: &'static [&'static str],
    /// "Not", "did not come".
    missing: &'static [&'static str],
    /// Nouns for what is not the payment.
    others: &'static [&'static str],
    /// Words that make it another report: refused, failed, closed, returned, not.
    refused: &'static [&'static str],
}

const LANGUAGES: [Language; 6] = [URDU, HINDI, NEPALI, BENGALI, SINHALA, ARABIC];

const URDU: Language = Language {
    payments: &["ادائیگی", "رقم", "لین دین", "ٹرانزیکشن", "ترسیل", "فنڈ", "پہلے"],
    done: &[
        "چکی",
        "چکا",
        "چکے",
        "ہو گئی",
        "ہوگئی",
        "ہو گیا",
        "ہوگیا",
        "کر دی گئی",
        "کر دیا گیا",
        "بھیج دی",
    ],
    deposited: &["جمع"],
    open: &["زیر التوا", "زیر غور", "زیر تکمیل", "زیر کارروائی", "انتظار"],
    answers: &["جواب", "ردعمل", "رد عمل", "تصدیق"],
    missing: &["نہیں"],
    others: &[
        "اکاؤنٹ",
        "اکاونٹ",
        "کھات",
        "کارڈ",
        "دستاویز",
        "شناخت",
        "درخواست",
        "کے وائی سی",
        "KYC",
    ],
    refused: &[
        "مسترد",
        "ناکام",
        "منسوخ",
        "بند",
        "واپس",
        "نہیں",
        "حد",
        "غلط",
        "روک",
        "منجمد",
        "انکار",
    ],
};
const HINDI: Language = Language {
    payments: &[
        "भुगतान",
        "लेनदेन",
        "लेन-देन",
        "राशि",
        "रकम",
        "पैसे",
        "पैसा",
        "ट्रांजैक्शन",
        "ट्रांज़ैक्शन",
        "अंतरण",
        "पहले",
    ],
    done: &["चुक", "हो गया", "हो गई", "हो गयी", "कर दिया गया", "कर दी गई", "भेज दी", "भेज दिया"],
    deposited: &["जमा"],
    open: &["लंबित", "लम्बित", "प्रक्रिया में", "प्रगति पर", "विचाराधीन", "प्रतीक्षा"],
    answers: &["उत्तर", "जवाब", "प्रतिक्रिया", "पुष्टि"],
    missing: &["नहीं"],
    others: &["खात", "कार्ड", "दस्तावेज", "दस्तावेज़", "सत्यापन", "पहचान", "आवेदन", "केवाईसी", "KYC"],
    refused: &[
        "अस्वी",
        "विफल",
        "असफल",
        "रद्द",
        "नहीं",
        "बंद",
        "बन्द",
        "वापस",
        "वापिस",
        "सीमा",
        "गलत",
        "रोक",
        "ब्लॉक",
        "फ्रीज",
    ],
};
const NEPALI: Language = Language {
    payments: &["भुक्तानी", "कारोबार", "रकम", "पैसा", "रुपैयाँ", "पहिले"],
    done: &["भयो", "इसक", "ैसक", "गरियो", "पठाइयो", "भएको छ"],
    deposited: &["जम्मा"],
    open: &["प्रक्रियामा", "प्रक्रियाधीन", "विचाराधीन", "पेन्डिङ", "प्रतीक्षा"],
    answers: &["जवाफ", "उत्तर", "प्रतिक्रिया", "पुष्टि"],
    missing: &["आएन", "छैन", "भएन", "पाइएन", "प्राप्त नभ"],
    others: &[
        "खाता",
        "खाताको",
        "खाते",
        "कार्ड",
        "कागजात",
        "प्रमाणीकरण",
        "परिचय",
        "निवेदन",
        "केवाईसी",
        "KYC",
    ],
    refused: &[
        "अस्वी",
        "असफल",
        "विफल",
        "रद्द",
        "सकेन",
        "भएन",
        "छैन",
        "बन्द",
        "बंद",
        "सीमा",
        "फिर्ता",
        "गलत",
        "रोक",
        "नभएको",
    ],
};
const BENGALI: Language = Language {
    payments: &["পরিশোধ", "পেমেন্ট", "লেনদেন", "টাকা", "অর্থ", "আগে"],
    done: &["হয়েছে", "হয়ে গেছে", "হয়ে গিয়েছে", "সম্পন্ন"],
    deposited: &["জমা"],
    open: &[
        "প্রক্রিয়া চলছে",
        "প্রক্রিয়াকরণ চলছে",
        "অপেক্ষমাণ",
        "অপেক্ষমান",
        "মুলতুবি",
        "মুলতবি",
        "পেন্ডিং",
        "বিচারাধীন",
    ],
    answers: &["সাড়া", "উত্তর", "জবাব", "প্রতিক্রিয়া", "নিশ্চিতকরণ"],
    missing: &["যায়নি", "যায় নি", "নেই", "আসেনি", "হয়নি", "পাইনি"],
    others: &["হিসাব", "অ্যাকাউন্ট", "একাউন্ট", "কার্ড", "নথি", "যাচাই", "পরিচয়", "আবেদন", "কেওয়াইসি", "KYC"],
    refused: &[
        "প্রত্যাখ্যা",
        "বাতিল",
        "ব্যর্থ",
        "হয়নি",
        "হয় নি",
        "নয়",
        "বন্ধ",
        "সীমা",
        "ফেরত",
        "ভুল",
        "স্থগিত",
        "ব্লক",
        "প্রয়োজন",
        "অসম্পন্ন",
    ],
};
const SINHALA: Language = Language {
    payments: &["ගෙවීම", "මුදල", "ගනුදෙනු"],
    done: &["සිදු කර", "බැර කර", "සිදු වී", "බැර වී", "සම්පූර්ණ", "සාර්ථක", "නිම", "යවා ඇත"],
    deposited: &["බැර"],
    open: &["සැකසෙමින්", "පොරොත්තු", "ක්‍රියාවලියේ"],
    answers: &["ප්‍රතිචාර", "පිළිතුර"],
    missing: &["නැත", "නොලැබ", "නොමැත"],
    others: &["ගිණුම", "කාඩ්පත", "ලේඛන", "හැඳුනුම්", "KYC"],
    refused: &[
        "ප්‍රතික්ෂේප",
        "අසාර්ථක",
        "නැත",
        "නොහැක",
        "නොවේ",
        "නොමැත",
        "අසම්පූර්ණ",
        "අවලංගු",
        "වසා",
        "සීමාව",
        "ආපසු",
        "වැරදි",
        "අත්හිටු",
    ],
};
const ARABIC: Language = Language {
    payments: &["مبلغ", "دفع", "تحويل", "حوال", "عملي", "معامل"],
    done: &[" تم إرسال", " تم سداد", " تم صرف", "تمت بنجاح", " اكتملت", " اكتمل "],
    deposited: &[" تم إيداع", " تم قيد", " تم إضافة", " أودع", " أضيف"],
    open: &["معلق", "قيد الانتظار", "في الانتظار", "قيد المراجعة", "جاري", "جار "],
    answers: &["استجاب", "يستجب", " رد ", "الرد", "ردا", "تأكيد"],
    missing: &[" لم ", " لا ", " عدم ", " دون ", " بدون ", " لن "],
    others: &["حساب", "بطاق", "وثائق", "مستند", "هوي", "طلب فتح", "محفظ", "KYC"],
    refused: &[
        "رفض",
        "مرفوض",
        "فشل",
        " لم ",
        " لا ",
        "إلغاء",
        "ألغي",
        "ملغ",
        "إغلاق",
        "مغلق",
        "غير",
        "خطأ",
        "إرجاع",
        "إعادة",
        "الحد",
    ],
};

impl Language {
    fn leaves_open(&self, clause: &str) -> bool {
        let has = |words: &[&str]| repetition::contains_any(clause, words);
        let is_others = has(self.others);
        let is_of_payment = has(self.payments) || clause.split_whitespace().count() <= SHORT_WORDS;
        let is_deposited = has(self.payments) && has(self.deposited);
        let is_done = has(self.payments) && has(self.done) && !is_others;
        has(self.answers) && has(self.missing)
            || has(self.open) && is_of_payment && !is_others
            || (is_deposited && (has(self.done) || self.deposits()) || is_done)
                && !has(self.refused)
    }

    /// Whether the word for "deposited" contains that it was done.
    fn deposits(&self) -> bool {
        self.deposited.iter().all(|word| word.starts_with(' '))
    }
}

/// A clause of so many words that says "pending" is about the payment, without naming it.
const SHORT_WORDS: usize = 3;

/// Whether a clause says that the payment was made, that it is open, or that no answer came.
pub(super) fn is_left_open(text: &str) -> bool {
    let is_elsewhere = |clause: &str| LANGUAGES.iter().any(|language| language.leaves_open(clause));
    repetition::clauses(text).iter().any(|clause| latin::is_left_open(clause))
        || !text.is_ascii() && repetition::parts(text).any(is_elsewhere)
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
