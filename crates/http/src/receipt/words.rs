//! The receipt's labels in the eight languages of the pay page. Numbers and ids use Latin digits in
//! all.

use domain::payment::PaymentState;

/// A language of the receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Lang {
    #[default]
    En,
    Ur,
    Ar,
    Hi,
    Bn,
    Ne,
    Vi,
    Fil,
}

impl Lang {
    pub const ALL: [Lang; 8] =
        [Lang::En, Lang::Ur, Lang::Ar, Lang::Hi, Lang::Bn, Lang::Ne, Lang::Vi, Lang::Fil];

    /// Its BCP 47 tag.
    pub const fn tag(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Ur => "ur",
            Lang::Ar => "ar",
            Lang::Hi => "hi",
            Lang::Bn => "bn",
            Lang::Ne => "ne",
            Lang::Vi => "vi",
            Lang::Fil => "fil",
        }
    }

    /// Parses a tag in its exact spelling.
    pub fn parse(tag: &str) -> Option<Lang> {
        Lang::ALL.into_iter().find(|lang| lang.tag() == tag)
    }

    /// The writing direction: the `dir` of the page.
    pub const fn direction(self) -> &'static str {
        match self {
            Lang::Ur | Lang::Ar => "rtl",
            _ => "ltr",
        }
    }

    pub(super) const fn words(self) -> &'static Words {
        match self {
            Lang::En => &EN,
            Lang::Ur => &UR,
            Lang::Ar => &AR,
            Lang::Hi => &HI,
            Lang::Bn => &BN,
            Lang::Ne => &NE,
            Lang::Vi => &VI,
            Lang::Fil => &FIL,
        }
    }
}

/// The outcome of a payment, in broad terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Received by the beneficiary's bank.
    Paid,
    UnderWay,
    /// The outcome is unknown.
    Unclear,
    /// Failed or rejected, and not executed.
    NotPaid,
    /// Executed, and returned later.
    CameBack,
}

impl Outcome {
    pub(super) const fn of(state: PaymentState) -> Outcome {
        match state {
            PaymentState::Succeeded => Outcome::Paid,
            PaymentState::Queued | PaymentState::Pending | PaymentState::Processing => {
                Outcome::UnderWay
            }
            PaymentState::Unknown => Outcome::Unclear,
            PaymentState::Rejected | PaymentState::Failed | PaymentState::Canceled => {
                Outcome::NotPaid
            }
            PaymentState::Reversed => Outcome::CameBack,
        }
    }

    /// Whether the payment can still change.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Outcome::UnderWay | Outcome::Unclear)
    }

    /// The style sheet's class.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Outcome::Paid => "paid",
            Outcome::UnderWay | Outcome::Unclear => "open",
            Outcome::NotPaid | Outcome::CameBack => "back",
        }
    }

    pub(super) const fn words(self, words: &Words) -> &'static str {
        match self {
            Outcome::Paid => words.paid,
            Outcome::UnderWay => words.under_way,
            Outcome::Unclear => words.unclear,
            Outcome::NotPaid => words.not_paid,
            Outcome::CameBack => words.came_back,
        }
    }
}

macro_rules! words {
    ($($name:ident)+) => {
        /// The labels of one language.
        pub(super) struct Words {
            $(pub(super) $name: &'static str,)+
        }

        impl Words {
            #[cfg(test)]
            pub(super) fn all(&self) -> Vec<&'static str> {
                vec![$(self.$name),+]
            }
        }
    };
}

words! {
    receipt confirmation sandbox not_final paid under_way unclear not_paid came_back
    reference own_reference bank_reference accepted last_change
    people sender beneficiary account bank
    amounts sent rate received to_receive
    charged reserved given_back kept charge_amount fee cost total
}

static EN: Words = Words {
    receipt: "Payment receipt",
    confirmation: "Payment confirmation",
    sandbox: "Sandbox: no real money",
    not_final: "This payment is not complete. This page does not prove that it was paid.",
    paid: "Paid",
    under_way: "On its way",
    unclear: "Being confirmed with the bank",
    not_paid: "Not paid",
    came_back: "Returned",
    reference: "Reference",
    own_reference: "Your reference",
    bank_reference: "Bank reference",
    accepted: "Accepted",
    last_change: "Status since",
    people: "Parties",
    sender: "Sender",
    beneficiary: "Beneficiary",
    account: "Account",
    bank: "Bank",
    amounts: "Amounts",
    sent: "Amount sent",
    rate: "Exchange rate",
    received: "Amount paid out",
    to_receive: "Amount to be paid out",
    charged: "Charged to the sending bank",
    reserved: "Reserved from the sending bank",
    given_back: "Returned to the sending bank",
    kept: "Not returned",
    charge_amount: "For the amount",
    fee: "Fee",
    cost: "Payout cost",
    total: "Total",
};

static UR: Words = Words {
    receipt: "ادائیگی کی رسید",
    confirmation: "ادائیگی کی تصدیق",
    sandbox: "آزمائشی ماحول: اصلی رقم نہیں",
    not_final: "یہ ادائیگی ابھی مکمل نہیں ہوئی۔ یہ صفحہ ادائیگی کا ثبوت نہیں ہے۔",
    paid: "ادا ہو گئی",
    under_way: "راستے میں ہے",
    unclear: "بینک سے معلوم کیا جا رہا ہے",
    not_paid: "ادا نہیں ہوئی",
    came_back: "رقم واپس کر دی گئی",
    reference: "حوالہ",
    own_reference: "آپ کا حوالہ",
    bank_reference: "بینک کا حوالہ",
    accepted: "قبول ہونے کا وقت",
    last_change: "یہ حیثیت کب سے",
    people: "بھیجنے والا اور وصول کنندہ",
    sender: "بھیجنے والا",
    beneficiary: "وصول کنندہ",
    account: "اکاؤنٹ",
    bank: "بینک",
    amounts: "رقوم",
    sent: "بھیجی گئی رقم",
    rate: "شرح تبادلہ",
    received: "ادا کی گئی رقم",
    to_receive: "ادا کی جانے والی رقم",
    charged: "بھیجنے والے بینک سے لیا گیا",
    reserved: "بھیجنے والے بینک سے مختص",
    given_back: "بھیجنے والے بینک کو واپس کیا گیا",
    kept: "واپس نہیں کیا گیا",
    charge_amount: "رقم کے لیے",
    fee: "فیس",
    cost: "ادائیگی کی لاگت",
    total: "کل",
};

static AR: Words = Words {
    receipt: "إيصال دفع",
    confirmation: "تأكيد دفع",
    sandbox: "بيئة تجريبية: لا أموال حقيقية",
    not_final: "لم تكتمل هذه الدفعة بعد. هذه الصفحة ليست إثباتًا للدفع.",
    paid: "تم الدفع",
    under_way: "في الطريق",
    unclear: "قيد التوضيح مع البنك",
    not_paid: "لم يتم الدفع",
    came_back: "أُعيد المبلغ",
    reference: "المرجع",
    own_reference: "مرجعك",
    bank_reference: "مرجع البنك",
    accepted: "وقت القبول",
    last_change: "الحالة منذ",
    people: "من وإلى",
    sender: "المرسل",
    beneficiary: "المستفيد",
    account: "الحساب",
    bank: "البنك",
    amounts: "المبالغ",
    sent: "المبلغ المرسل",
    rate: "سعر الصرف",
    received: "المبلغ المدفوع",
    to_receive: "المبلغ المقرر دفعه",
    charged: "المحسوب على البنك المرسل",
    reserved: "المحجوز من البنك المرسل",
    given_back: "المُعاد إلى البنك المرسل",
    kept: "غير المُعاد",
    charge_amount: "مقابل المبلغ",
    fee: "الرسوم",
    cost: "تكلفة الدفع",
    total: "الإجمالي",
};

static HI: Words = Words {
    receipt: "भुगतान की रसीद",
    confirmation: "भुगतान की पुष्टि",
    sandbox: "परीक्षण परिवेश: असली पैसा नहीं",
    not_final: "यह भुगतान अभी पूरा नहीं हुआ है। यह पृष्ठ भुगतान का प्रमाण नहीं है।",
    paid: "भुगतान हो गया",
    under_way: "रास्ते में है",
    unclear: "बैंक से पूछा जा रहा है",
    not_paid: "भुगतान नहीं हुआ",
    came_back: "राशि लौटा दी गई",
    reference: "संदर्भ",
    own_reference: "आपका संदर्भ",
    bank_reference: "बैंक का संदर्भ",
    accepted: "स्वीकार होने का समय",
    last_change: "यह स्थिति कब से",
    people: "प्रेषक और प्राप्तकर्ता",
    sender: "प्रेषक",
    beneficiary: "प्राप्तकर्ता",
    account: "खाता",
    bank: "बैंक",
    amounts: "राशियाँ",
    sent: "भेजी गई राशि",
    rate: "विनिमय दर",
    received: "भुगतान की गई राशि",
    to_receive: "भुगतान की जाने वाली राशि",
    charged: "भेजने वाले बैंक से लिया गया",
    reserved: "भेजने वाले बैंक से आरक्षित",
    given_back: "भेजने वाले बैंक को लौटाया गया",
    kept: "नहीं लौटाया गया",
    charge_amount: "राशि के लिए",
    fee: "शुल्क",
    cost: "भुगतान की लागत",
    total: "कुल",
};

static BN: Words = Words {
    receipt: "অর্থপ্রদানের রসিদ",
    confirmation: "অর্থপ্রদানের নিশ্চিতকরণ",
    sandbox: "পরীক্ষামূলক পরিবেশ: আসল টাকা নয়",
    not_final: "এই অর্থপ্রদান এখনও শেষ হয়নি। এই পাতা অর্থপ্রদানের প্রমাণ নয়।",
    paid: "পরিশোধ হয়েছে",
    under_way: "পথে আছে",
    unclear: "ব্যাংকের কাছে জানা হচ্ছে",
    not_paid: "পরিশোধ হয়নি",
    came_back: "টাকা ফেরত দেওয়া হয়েছে",
    reference: "রেফারেন্স",
    own_reference: "আপনার রেফারেন্স",
    bank_reference: "ব্যাংকের রেফারেন্স",
    accepted: "গৃহীত হওয়ার সময়",
    last_change: "এই অবস্থা কখন থেকে",
    people: "প্রেরক ও প্রাপক",
    sender: "প্রেরক",
    beneficiary: "প্রাপক",
    account: "হিসাব",
    bank: "ব্যাংক",
    amounts: "পরিমাণ",
    sent: "পাঠানো পরিমাণ",
    rate: "বিনিময় হার",
    received: "প্রদত্ত পরিমাণ",
    to_receive: "প্রদেয় পরিমাণ",
    charged: "প্রেরক ব্যাংকের কাছ থেকে নেওয়া",
    reserved: "প্রেরক ব্যাংক থেকে সংরক্ষিত",
    given_back: "প্রেরক ব্যাংককে ফেরত দেওয়া",
    kept: "ফেরত দেওয়া হয়নি",
    charge_amount: "পরিমাণের জন্য",
    fee: "ফি",
    cost: "প্রদানের খরচ",
    total: "মোট",
};

static NE: Words = Words {
    receipt: "भुक्तानीको रसिद",
    confirmation: "भुक्तानीको पुष्टि",
    sandbox: "परीक्षण वातावरण: वास्तविक पैसा होइन",
    not_final: "यो भुक्तानी अझै पूरा भएको छैन। यो पृष्ठ भुक्तानीको प्रमाण होइन।",
    paid: "भुक्तानी भयो",
    under_way: "बाटोमा छ",
    unclear: "बैंकसँग बुझिँदैछ",
    not_paid: "भुक्तानी भएन",
    came_back: "रकम फिर्ता गरियो",
    reference: "सन्दर्भ",
    own_reference: "तपाईंको सन्दर्भ",
    bank_reference: "बैंकको सन्दर्भ",
    accepted: "स्वीकार भएको समय",
    last_change: "यो अवस्था कहिलेदेखि",
    people: "पठाउने र पाउने",
    sender: "पठाउने",
    beneficiary: "पाउने",
    account: "खाता",
    bank: "बैंक",
    amounts: "रकमहरू",
    sent: "पठाइएको रकम",
    rate: "विनिमय दर",
    received: "भुक्तानी गरिएको रकम",
    to_receive: "भुक्तानी गरिने रकम",
    charged: "पठाउने बैंकबाट लिइएको",
    reserved: "पठाउने बैंकबाट आरक्षित",
    given_back: "पठाउने बैंकलाई फिर्ता गरिएको",
    kept: "फिर्ता नगरिएको",
    charge_amount: "रकमका लागि",
    fee: "शुल्क",
    cost: "भुक्तानीको लागत",
    total: "जम्मा",
};

static VI: Words = Words {
    receipt: "Biên nhận thanh toán",
    confirmation: "Xác nhận thanh toán",
    sandbox: "Môi trường thử nghiệm: không phải tiền thật",
    not_final: "Khoản thanh toán này chưa hoàn tất. Trang này không phải bằng chứng đã thanh toán.",
    paid: "Đã thanh toán",
    under_way: "Đang xử lý",
    unclear: "Đang xác minh với ngân hàng",
    not_paid: "Chưa thanh toán",
    came_back: "Đã hoàn trả",
    reference: "Mã tham chiếu",
    own_reference: "Mã tham chiếu của bạn",
    bank_reference: "Mã tham chiếu của ngân hàng",
    accepted: "Được tiếp nhận lúc",
    last_change: "Trạng thái từ",
    people: "Người gửi và người nhận",
    sender: "Người gửi",
    beneficiary: "Người thụ hưởng",
    account: "Tài khoản",
    bank: "Ngân hàng",
    amounts: "Số tiền",
    sent: "Số tiền gửi",
    rate: "Tỷ giá",
    received: "Số tiền chi trả",
    to_receive: "Số tiền sẽ chi trả",
    charged: "Tính cho ngân hàng gửi",
    reserved: "Tạm giữ của ngân hàng gửi",
    given_back: "Đã hoàn lại cho ngân hàng gửi",
    kept: "Không hoàn lại",
    charge_amount: "Cho số tiền",
    fee: "Phí",
    cost: "Chi phí chi trả",
    total: "Tổng cộng",
};

static FIL: Words = Words {
    receipt: "Resibo ng bayad",
    confirmation: "Kumpirmasyon ng bayad",
    sandbox: "Pagsubok lamang: walang tunay na pera",
    not_final: "Hindi pa tapos ang bayad na ito. Hindi ito patunay na nabayaran na.",
    paid: "Bayad na",
    under_way: "Ipinapadala pa",
    unclear: "Nililinaw sa bangko",
    not_paid: "Hindi nabayaran",
    came_back: "Naibalik ang bayad",
    reference: "Sanggunian",
    own_reference: "Iyong sanggunian",
    bank_reference: "Sanggunian ng bangko",
    accepted: "Tinanggap noong",
    last_change: "Katayuan mula noong",
    people: "Mula at para kanino",
    sender: "Nagpadala",
    beneficiary: "Tatanggap",
    account: "Account",
    bank: "Bangko",
    amounts: "Mga halaga",
    sent: "Halagang ipinadala",
    rate: "Palitan",
    received: "Halagang ibinayad",
    to_receive: "Halagang ibabayad",
    charged: "Sinisingil sa nagpadalang bangko",
    reserved: "Nakareserba mula sa nagpadalang bangko",
    given_back: "Ibinalik sa nagpadalang bangko",
    kept: "Hindi ibinalik",
    charge_amount: "Para sa halaga",
    fee: "Bayarin",
    cost: "Gastos sa pagbabayad",
    total: "Kabuuan",
};
