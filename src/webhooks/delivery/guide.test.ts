// Runs the code samples of docs/guide/webhook-signatures.md.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { contentSignature, standardSignatures } from './signature.ts';

type Headers = Record<string, string>;
let contentIsGenuine: (rawBody: Buffer, headers: Headers, publicKeys: string[]) => boolean;
let genuineEvent: (rawBody: Buffer, headers: Headers, secret: string) => unknown;
let webhookIsGenuine: (rawBody: Buffer, headers: Headers, secrets: string[], nowSeconds: number) => boolean;

beforeAll(async () => {
  const guide = readFileSync(new URL('../../../docs/guide/webhook-signatures.md', import.meta.url), 'utf8');
  const samples = [...guide.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);
  if (samples.length !== 3)
    throw new Error(`docs/guide/webhook-signatures.md has ${samples.length} samples, not 3`);
  const thePackage = import.meta.resolve('standardwebhooks');
  const load = (code = ''): Promise<any> =>
    import(
      `data:text/javascript,${encodeURIComponent(code.replace("'standardwebhooks'", `'${thePackage}'`))}`
    );
  ({ genuineEvent } = await load(samples[0]));
  ({ webhookIsGenuine } = await load(samples[1]));
  ({ contentIsGenuine } = await load(samples[2]));
});

const body = Buffer.from('{"eventID":1,"eventType":"InvoicePaid"}');
const changed = Buffer.from('{"eventID":2,"eventType":"InvoicePaid"}');

describe('the sample for Content-Signature', () => {
  const pairs = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const [current, next] = pairs.map(({ publicKey }) =>
    publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  );

  test('accepts a signature of either key and rejects others', async () => {
    for (const { privateKey } of pairs) {
      const headers = { 'content-signature': await contentSignature(body, privateKey) };
      expect(contentIsGenuine(body, headers, [current!, next!])).toBe(true);
      expect(contentIsGenuine(changed, headers, [current!, next!])).toBe(false);
    }
    const headers = { 'content-signature': await contentSignature(body, pairs[1]!.privateKey) };
    expect(contentIsGenuine(body, headers, [current!])).toBe(false);
    const unpadded = { 'content-signature': headers['content-signature'].replace(/=+$/, '') };
    expect(contentIsGenuine(body, unpadded, [next!])).toBe(true);
  });

  test.each([
    {},
    { 'content-signature': '' },
    { 'content-signature': 'alg=none; digest=' },
    { 'content-signature': 'alg=RS256; digest=AAAA' },
  ])('rejects %j', (headers) => expect(contentIsGenuine(body, headers as Headers, [current!])).toBe(false));
});

describe('the samples for Standard Webhooks', () => {
  const seed = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 1)]);
  const ed25519 = createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' });
  const secrets = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const [old, fresh] = secrets.map((secret) => `whsec_${secret.toString('base64')}`);
  const second = 1_795_221_000;
  const headersFor = (signing: Buffer[]) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(second),
    'webhook-signature': standardSignatures(
      { id: 'evt_1', second, body },
      signing.map((secret) => ({ secret, ed25519 })),
    ),
  });

  test('accepts the published test vector', () => {
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1795221000',
      'webhook-signature': 'v1,8Bi1LbdyxPDm99nhgucOwSuwt5CYJNVhS7QhOfB6Khg=',
    };
    const raw = Buffer.from('{"eventID":1,"eventType":"PaymentCaptured"}');
    const secret = `whsec_${Buffer.from([...Array(32).keys()]).toString('base64')}`;
    expect(webhookIsGenuine(raw, headers, [secret], second)).toBe(true);
  });

  describe('with the package', () => {
    afterEach(() => void vi.useRealTimers());
    const at = (seconds: number) => vi.useFakeTimers({ now: seconds * 1_000, toFake: ['Date'] });

    test('accepts a signature with any of the secrets for 5 minutes and rejects others', () => {
      const both = headersFor(secrets);
      at(second + 300);
      expect(genuineEvent(body, both, old!)).toEqual({ eventID: 1, eventType: 'InvoicePaid' });
      expect(genuineEvent(body, both, fresh!)).toEqual({ eventID: 1, eventType: 'InvoicePaid' });
      expect(() => genuineEvent(changed, both, old!)).toThrow('No matching signature');
      expect(() => genuineEvent(body, headersFor(secrets.slice(1)), old!)).toThrow('No matching signature');
      at(second + 301);
      expect(() => genuineEvent(body, both, old!)).toThrow('too old');
    });
  });

  test('accepts a signature with any of the secrets for 5 minutes and rejects others', () => {
    const both = headersFor(secrets);
    expect(webhookIsGenuine(body, both, [old!], second + 300)).toBe(true);
    expect(webhookIsGenuine(body, both, [fresh!], second - 300)).toBe(true);
    expect(webhookIsGenuine(body, both, [old!], second + 301)).toBe(false);
    expect(webhookIsGenuine(changed, both, [old!], second)).toBe(false);
    expect(webhookIsGenuine(body, { ...both, 'webhook-id': 'evt_2' }, [old!], second)).toBe(false);
    expect(webhookIsGenuine(body, headersFor(secrets.slice(1)), [old!], second)).toBe(false);
    expect(webhookIsGenuine(body, headersFor(secrets.slice(1)), [old!, fresh!], second)).toBe(true);
    expect(webhookIsGenuine(body, {}, [old!], second)).toBe(false);
    expect(webhookIsGenuine(body, { ...both, 'webhook-timestamp': 'soon' }, [old!], second)).toBe(false);
  });
});
