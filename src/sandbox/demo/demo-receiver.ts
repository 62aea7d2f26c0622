// Receives the demo shop's webhook events as a merchant's server should: it checks both signatures and the age,
// and keeps a repeated event once.
import { createPublicKey, verify } from 'node:crypto';

/** The public keys as the API returns them with a webhook. */
export type WebhookKeys = { readonly publicKey: string; readonly signingPublicKey: string };

export type Delivered = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly raw: Buffer;
};

/** One webhook event as the demo shows it. */
export type Heard = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly eventType: string } & Readonly<Record<string, unknown>>;
};

const shownHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-signature'];
const maxAgeSeconds = 300;
/** The DER prefix Node needs before the 32 bytes of an Ed25519 key. */
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex');

export function isGenuine(delivered: Delivered, keys: WebhookKeys, nowSeconds: number): boolean {
  return (
    isSignedInContent(delivered, keys.publicKey) &&
    isSignedByStandard(delivered, keys.signingPublicKey, nowSeconds)
  );
}

/** `alg=RS256; digest=…`, over the body. */
function isSignedInContent(delivered: Delivered, publicKey: string): boolean {
  const digest = /^alg=RS256; digest=([\w=-]+)$/.exec(header(delivered, 'content-signature'))?.[1];
  return digest !== undefined && verify('sha256', delivered.raw, publicKey, Buffer.from(digest, 'base64url'));
}

/** `v1a,…`, over id, second and body. */
function isSignedByStandard(delivered: Delivered, signingPublicKey: string, nowSeconds: number): boolean {
  const [id, second] = ['webhook-id', 'webhook-timestamp'].map((name) => header(delivered, name));
  if (!/^\d+$/.test(second ?? '') || Math.abs(nowSeconds - Number(second)) > maxAgeSeconds) return false;
  const raw = Buffer.from(signingPublicKey.replace(/^whpk_/, ''), 'base64');
  const key = createPublicKey({ key: Buffer.concat([ed25519Prefix, raw]), format: 'der', type: 'spki' });
  const signed = Buffer.concat([Buffer.from(`${id}.${second}.`), delivered.raw]);
  return header(delivered, 'webhook-signature')
    .split(' ')
    .filter((signature) => signature.startsWith('v1a,'))
    .some((signature) => verify(null, signed, key, Buffer.from(signature.slice(4), 'base64')));
}

function header({ headers }: Delivered, name: string): string {
  return String(headers[name] ?? '');
}

/** Webhook events per order, customer or subscription, in the order they arrived. */
export class Hearing {
  readonly #heard = new Map<string, Heard[]>();
  readonly #rememberedMost: number;

  constructor(maxRemembered: number) {
    this.#rememberedMost = maxRemembered;
  }

  /** Starts keeping the webhook events of an object. */
  attend(id: string): void {
    this.#heard.set(id, []);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > this.#rememberedMost && oldest !== undefined) this.#heard.delete(oldest);
  }

  knows(id: string): boolean {
    return this.#heard.has(id);
  }

  keep(path: string, delivered: Delivered): void {
    const body = JSON.parse(delivered.raw.toString()) as Heard['body'];
    const heard = this.#heard.get(subjectOf(body) ?? '');
    const headers = Object.fromEntries(shownHeaders.map((name) => [name, header(delivered, name)]));
    const isRepeat = heard?.some((one) => one.headers['webhook-id'] === headers['webhook-id']);
    if (!isRepeat) heard?.push({ path, headers, body });
  }

  after(id: string, count: number): readonly Heard[] {
    return this.#heard.get(id)?.slice(count) ?? [];
  }
}

/** The order, customer or subscription that an event is about; of a series what began it. */
function subjectOf(body: Heard['body']): string | undefined {
  const { invoice, customer, subscription, series } = body as Heard['body'] & {
    readonly invoice?: { readonly id: string };
    readonly customer?: { readonly id: string };
    readonly subscription?: { readonly id: string };
    readonly series?: {
      readonly rootPayment?: { readonly invoiceID: string };
      readonly rootBinding?: { readonly customerID: string };
    };
  };
  const { rootPayment, rootBinding } = series ?? {};
  return invoice?.id ?? customer?.id ?? subscription?.id ?? rootPayment?.invoiceID ?? rootBinding?.customerID;
}
