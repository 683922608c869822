//! Banks' own words for a payment that was made, that is open or that was not answered, by language, and
//! the refusals that resemble them.

use super::super::proves_possession;

/// The texts that a bank's code without a reason decides differently from what is expected.
fn wrong<'a>(texts: &[&'a str], expected: bool) -> Vec<&'a str> {
    let proves = |text: &str| {
        let of = |codes: &[&str]| {
            let codes: Vec<String> = codes.iter().map(|code| (*code).to_owned()).collect();
            proves_possession(codes.iter(), Some(text), None)
        };
        let all = [of(&["NARR"]), of(&["E001"]), of(&["MS03"]), of(&[])];
        assert!(all.iter().all(|it| *it == all[0]), "{text}: {all:?}");
        all[0]
    };
    texts.iter().filter(|text| proves(text) != expected).copied().collect()
}

/// Texts of one language: its name, those that leave the outcome open, and refusals.
type Texts = (&'static str, &'static [&'static str], &'static [&'static str]);

fn assert_all(languages: &[Texts]) {
    let wrong: Vec<_> = languages
        .iter()
        .map(|(language, open, refused)| (*language, wrong(open, true), wrong(refused, false)))
        .filter(|(_, open, refused)| !open.is_empty() || !refused.is_empty())
        .collect();
    assert_eq!(wrong, []);
}

const ELSEWHERE: [Texts; 6] = [
    (
        "Urdu",
        &[
            "رقم جمع ہو چکی ہے",
            "رقم اکاؤنٹ میں جمع ہو چکی ہے",
            "ادائیگی ہو گئی ہے",
            "ادائیگی کر دی گئی ہے",
            "رقم بھیج دی گئی ہے",
            "لین دین مکمل ہو گیا",
            "جواب موصول نہیں ہوا",
            "بینک سے کوئی جواب نہیں ملا",
            "ادائیگی زیر التوا ہے",
            "انتظار میں",
        ],
        &[
            "ادائیگی مسترد: اکاؤنٹ بند ہو چکا ہے",
            "ادائیگی مسترد، اکاؤنٹ بند ہو چکا ہے",
            "ادائیگی مسترد اکاؤنٹ بند ہو چکا ہے",
            "ادائیگی مسترد ہو گئی ہے",
            "ادائیگی ناکام ہو گئی ہے",
            "رقم جمع نہیں ہو سکی",
            "رقم واپس کر دی گئی",
            "اکاؤنٹ بند کر دیا گیا ہے",
            "ادائیگی کی حد ختم ہو گئی ہے",
        ],
    ),
    (
        "Hindi",
        &[
            "राशि जमा हो चुकी है",
            "राशि खाते में जमा हो चुकी है",
            "भुगतान हो गया है",
            "भुगतान कर दिया गया है",
            "लेन-देन पूरा हो गया",
            "लंबित है",
            "भुगतान लंबित है",
            "उत्तर नहीं मिला",
            "बैंक से जवाब नहीं आया",
            "लेनदेन प्रक्रिया में है",
        ],
        &[
            "भुगतान अस्वीकृत: खाता बंद हो चुका है",
            "भुगतान अस्वीकृत खाता बंद हो चुका है",
            "खाता बंद हो गया है",
            "भुगतान रद्द हो गया है",
            "लेनदेन विफल हो गया",
            "राशि जमा नहीं हुई",
            "राशि वापस कर दी गई",
            "केवाईसी लंबित है",
            "खाता सत्यापन लंबित है",
            "भुगतान सीमा समाप्त हो गई है",
        ],
    ),
    (
        "Nepali",
        &[
            "भुक्तानी भयो",
            "रकम जम्मा भइसकेको छ",
            "रकम खातामा जम्मा भयो",
            "प्रक्रियामा छ",
            "कारोबार प्रक्रियामा छ",
            "भुक्तानी सफल भयो",
            "बैंकबाट जवाफ आएन",
            "उत्तर प्राप्त भएन",
        ],
        &[
            "भुक्तानी अस्वीकृत: खाता बन्द भइसकेको छ",
            "भुक्तानी अस्वीकृत खाता बन्द भइसकेको छ",
            "भुक्तानी असफल भयो",
            "भुक्तानी हुन सकेन",
            "रकम फिर्ता भयो",
            "खाता बन्द भयो",
            "खाता प्रमाणीकरण प्रक्रियामा छ",
            "कारोबार रद्द भयो",
        ],
    ),
    (
        "Bengali",
        &[
            "পরিশোধ করা হয়েছে",
            "টাকা জমা হয়েছে",
            "টাকা হিসাবে জমা হয়েছে",
            "লেনদেন সম্পন্ন হয়েছে",
            "সাড়া পাওয়া যায়নি",
            "ব্যাংক থেকে জবাব আসেনি",
            "লেনদেন মুলতুবি আছে",
            "পেন্ডিং",
        ],
        &[
            "লেনদেনের আগে KYC প্রয়োজন, বাতিল করা হয়েছে",
            "লেনদেন বাতিল করা হয়েছে",
            "পেমেন্ট প্রত্যাখ্যান করা হয়েছে",
            "টাকা জমা হয়নি",
            "টাকা ফেরত দেওয়া হয়েছে",
            "হিসাব বন্ধ করা হয়েছে",
            "হিসাব যাচাই মুলতুবি আছে",
            "লেনদেন ব্যর্থ হয়েছে",
        ],
    ),
    (
        "Sinhala",
        &[
            "ගෙවීම සිදු කර ඇත",
            "මුදල් බැර කර ඇත",
            "මුදල් ගිණුමට බැර කර ඇත",
            "ගනුදෙනුව සාර්ථකයි",
            "ප්‍රතිචාරයක් නැත",
            "පිළිතුරක් නොලැබුණි",
            "ගනුදෙනුව පොරොත්තුවේ",
        ],
        &[
            "ගෙවීම ප්‍රතික්ෂේප කර ඇත",
            "ගනුදෙනුව අසාර්ථකයි",
            "මුදල් බැර කළ නොහැක",
            "මුදල් ප්‍රමාණවත් නැත",
            "ගිණුම වසා ඇත",
            "මුදල් ආපසු යවා ඇත",
        ],
    ),
    (
        "Arabic",
        &[
            "تم إيداع المبلغ",
            "تم ايداع المبلغ في الحساب",
            "تم إرسال الحوالة",
            "العملية معلقة",
            "قيد الانتظار",
            "الحوالة قيد الانتظار",
            "لم يستجب البنك",
            "عدم استجابة البنك المستفيد",
            "لم يتم استلام الرد",
            "اكتملت المعاملة",
        ],
        &[
            "الحساب معلق",
            "لم يتم إيداع المبلغ",
            "تم رفض التحويل",
            "تم إلغاء العملية",
            "تم إرجاع المبلغ",
            "حساب العميل قيد الانتظار",
            "فشل الدفع",
            "مبلغ غير صحيح",
        ],
    ),
];

#[test]
fn an_outcome_is_stated_in_one_clause_in_other_scripts() {
    assert_all(&ELSEWHERE);
}

const LATIN: [Texts; 10] = [
    (
        "English",
        &[
            "Transaction processing",
            "Payment is processing",
            "The transaction is still processing",
            "Result unknown",
            "Final status not confirmed",
            "Status could not be determined",
            "Payment went through",
            "Transfer complete",
            "Money was sent",
            "Unclear outcome",
            "No confirmation from beneficiary bank",
            "Confirmation of credit not received",
            "Response not received",
            "Reply has not been received",
            "We did not receive an answer",
            "Funds transferred",
            "Funds transferred to beneficiary",
            "Payment done",
            "Payment made on 3 May",
            "Amount sent",
            "Reference is used",
            "EndToEndId used",
            "End to end ID has been used",
            "Message replay",
            "Possible replay of message 17",
        ],
        &[
            "Error in transaction processing",
            "Payment processing failed",
            "Processing fee not paid",
            "Account not valid for payment processing",
            "No confirmation of payee",
            "Response code not valid",
            "Funds not transferred",
            "Funds cannot be transferred",
            "Amount transferred exceeds the limit",
            "Payment not done",
            "Payment could not be made",
            "Payment did not go through",
            "Transfer not complete",
            "Payment returned",
            "Result of the screening: rejected",
            "Payment to be made by branch",
            "No transfer was made",
            "Wrong reference used",
            "Reference used is invalid",
            "Status of the account unknown",
            "Beneficiary unknown",
        ],
    ),
    (
        "Vietnamese",
        &[
            "Giao dịch đang xử lý",
            "Giao dịch đang chờ xử lý",
            "Lệnh đang được xử lý",
            "Không nhận được phản hồi",
            "Ngân hàng thụ hưởng không phản hồi",
            "Hết thời gian chờ",
            "Giao dịch thành công",
            "Chuyển tiền thành công",
            "Đã chuyển tiền",
            "Kết quả chưa xác định",
        ],
        &[
            "Giao dịch không thành công",
            "Chuyển tiền không thành công",
            "Tài khoản đang chờ kích hoạt",
            "Không xác định được người thụ hưởng",
            "Chưa thanh toán",
            "Giao dịch bị từ chối",
        ],
    ),
    (
        "Filipino",
        &[
            "Nakabinbin",
            "Nakabinbin ang transaksyon",
            "Walang tugon",
            "Walang sagot mula sa bangko",
            "Na-credit na",
            "Tapos na ang transaksyon",
            "Naipadala na ang pera",
            "Pinoproseso pa",
        ],
        &[
            "Hindi na-credit ang bayad",
            "Tapos na ang oras",
            "Tinanggihan ang transaksyon",
            "Nakabinbin ang account sa pagsusuri",
        ],
    ),
    (
        "German",
        &[
            "Zahlung ist erfolgt",
            "Überweisung erfolgt",
            "Überweisung durchgeführt",
            "Zahlung in Bearbeitung",
            "Keine Rückmeldung der Bank",
            "Antwort nicht erhalten",
            "Ergebnis unbekannt",
        ],
        &[
            "Zahlung nicht erfolgt",
            "Es ist keine Zahlung erfolgt",
            "Zahlung erfolgt nur an Geschäftskunden",
            "Ablehnung der Zahlung erfolgt",
            "Empfänger unbekannt",
        ],
    ),
    (
        "Portuguese",
        &[
            "Pagamento já efetuado",
            "Pagamento efetuado",
            "Transferência concluída",
            "Pagamento pendente",
            "Nenhuma resposta do banco",
            "Resultado desconhecido",
        ],
        &[
            "Pagamento não efetuado",
            "Pagamento não pode ser efetuado",
            "Documentação pendente",
            "Beneficiário desconhecido",
            "Pagamento rejeitado",
        ],
    ),
    (
        "Italian",
        &[
            "Bonifico eseguito",
            "Pagamento effettuato",
            "Bonifico in corso",
            "Nessuna risposta dalla banca",
            "Esito sconosciuto",
        ],
        &[
            "Bonifico non eseguito",
            "Il bonifico non può essere eseguito",
            "Bonifico respinto",
            "Beneficiario sconosciuto",
        ],
    ),
    (
        "Spanish",
        &[
            "Pago efectuado",
            "Transferencia completada",
            "Pago pendiente",
            "Pendiente",
            "Respuesta no recibida",
            "Estado desconocido",
        ],
        &[
            "Pago no efectuado",
            "El pago no pudo ser efectuado",
            "Documentación pendiente",
            "Estado de la cuenta desconocido",
            "Pago rechazado",
        ],
    ),
    (
        "French",
        &[
            "Paiement en cours",
            "Virement en attente",
            "Réponse non reçue",
            "Aucun retour de la banque",
            "Résultat inconnu",
        ],
        &[
            "Bénéficiaire inconnu",
            "Paiement refusé",
            "Retour de paiement sans motif",
            "Virement non réalisé",
        ],
    ),
    (
        "Turkish",
        &["Ödeme yapıldı", "İşlem tamamlandı", "İşlem beklemede", "Cevap alınamadı", "Yanıt yok"],
        &["Ödeme yapılmadı", "İşlem iptal edildi", "Hesap beklemede", "Ödeme yapılamadı"],
    ),
    (
        "Indonesian",
        &[
            "Pembayaran selesai",
            "Transaksi tertunda",
            "Transaksi sedang diproses",
            "Belum ada jawaban",
        ],
        &["Transaksi ditolak", "Pembayaran belum selesai", "Rekening tertunda aktivasinya"],
    ),
];

#[test]
fn an_outcome_is_stated_in_one_clause() {
    assert_all(&LATIN);
}
