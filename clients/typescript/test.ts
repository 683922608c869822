// A payment and a payment request through the packaged clients.
import { paymentClient, walletClient } from "corridor-client";

const WAIT_MS = 60_000;

function env(name: string): string {
  const value = process.env[`CORRIDOR_${name}`];
  if (!value) throw new Error(`CORRIDOR_${name} is not set`);
  return value;
}

function data<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

const id = "0b9f6c1e-7f57-4a51-8f5d-2f6f0a4be0c3";
// Clients of clients/answers.py.
const answers = (kind: string) => ({ baseUrl: `${env("ANSWERS_URL")}/${kind}`, accessKey: "key", secretKey: "secret" });

// Members, values and types of events that this version does not know.
const later = paymentClient(answers("newer"));
const held = data(await later.GET("/v2/payments/{id}", { params: { path: { id }, query: { country: "PAK" } } }));
if ((held.response?.status as string) !== "held") throw new Error(JSON.stringify(held));
const read = data(await later.GET("/v2/events", { params: { query: { mode: "poll", after: "0" } } }));
if (typeof read === "string" || read.next !== "4") throw new Error("the page is not read");
const kinds: string[] = read.events.map((event) => event.type);
if (kinds.join() !== "quote.created,payment.held,rate.changed,payment.processing") throw new Error(kinds.join());
const log = data(await walletClient(answers("newer")).GET("/v1/sdk/events", { params: { query: { after: "0" } } }));
if (log.next !== "4" || log.events.length !== 4) throw new Error(JSON.stringify(log));

// The status is that of the answer, whatever its body: nothing is sent to another host, and nothing repeated.
const statuses = { newer: 422, limited: 429, down: 503, proxy: 502, proxy503: 503, redirect: 307 };
for (const [kind, expected] of Object.entries(statuses)) {
  const begun = Date.now();
  const client = paymentClient(answers(kind));
  const posted = await client.POST("/v2/quote", { body: { country: "PAK", currency: "AED", amount: 123.45 } });
  const got = await client.GET("/v2/payments/{id}", { params: { path: { id }, query: { country: "PAK" } } });
  const found = [posted.response.status, kind === "newer" ? 422 : got.response.status, posted.response.headers.get("x-request-id")];
  if (found.join() !== `${expected},${expected},r-1` || posted.error === undefined) throw new Error(`${kind}: ${found}`);
  if (Date.now() - begun > 5_000) throw new Error(`${kind} took too long`);
}

const pay = paymentClient({ baseUrl: env("BASE_URL"), accessKey: env("ACCESS_KEY"), secretKey: env("SECRET_KEY") });

const quote = data(await pay.POST("/v2/quote", { body: { country: "PAK", currency: "AED", amount: 123.45 } }));
const accepted = data(
  await pay.POST("/v2/payment", {
    body: {
      country: "PAK",
      currency: "AED",
      quote: quote.id,
      // In binary floating point, and not rounded.
      amount: quote.rate * quote.amount,
      bank_name: "Standard Chartered",
      bank_branch_code: "SCBLPKKX",
      beneficiary_name: "Asha Khan",
      beneficiary_city: "Karachi",
      beneficiary_address: "1 Shahrah-e-Faisal",
      beneficiary_account_number: "PK36SCBL0000001123456702",
      sender_name: "Omar Siddiqui",
      sender_birthdate: "1988-04-12",
      sender_identity_doc_type: "passport",
      sender_identity_doc: "AB1234567",
      sender_city: "Dubai",
      sender_address: "2 Al Wasl Road",
      sender_country: "ARE",
      sender_relation: "brother",
    },
  }),
);
const deadline = Date.now() + WAIT_MS;
for (;;) {
  const params = { path: { id: accepted.id }, query: { country: "PAK" as const } };
  const status = data(await pay.GET("/v2/payments/{id}", { params })).response?.status;
  if (status === "succeeded") break;
  if ((status !== "queued" && status !== "processing") || Date.now() > deadline) throw new Error(status);
  await new Promise((resolve) => setTimeout(resolve, 500));
}
const start_ts = new Date(Date.now() - 3_600_000).toISOString();
const listed = data(
  await pay.GET("/v2/payments", { params: { query: { country: "PAK", start_ts, status: ["succeeded"] } } }),
);
if (!listed.some((record) => record.id === accepted.id)) throw new Error("the payment is not listed");
const page = data(await pay.GET("/v2/events", { params: { query: { mode: "poll", after: "0", limit: 1000 } } }));
// The generated type is text, because of the stream.
if (typeof page === "string" || page.events.length === 0) throw new Error("no events");
const query = { mode: "poll" as const, after: page.next, limit: 1 };
data(await pay.GET("/v2/events", { params: { query } }));

const wallets = walletClient({
  baseUrl: env("WALLET_BASE_URL"),
  accessKey: env("WALLET_ACCESS_KEY"),
  secretKey: env("WALLET_SECRET_KEY"),
});
const wallet_id = env("WALLET_ID");
const made = data(
  await wallets.POST("/v1/sdk/payment-requests", {
    body: { wallet_id, amount: { type: "crypto", value: "25.50", currency: "USDC" }, purpose: "Rent" },
  }),
);
const found = data(await wallets.GET("/v1/sdk/payment-requests", { params: { query: { wallet_id } } }));
if (!found.payment_requests.some((request) => request.payment_request_id === made.payment_request_id)) {
  throw new Error("the payment request is not listed");
}
console.log(`payment ${accepted.id} succeeded, payment request ${made.payment_request_id} made`);
