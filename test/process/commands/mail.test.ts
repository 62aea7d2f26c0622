// mandate mail test, as a process of its own, with a mail server over TLS.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { localhostCertificate } from '../../support/receivers/localhost-certificate.ts';
import { startMailListener, type MailListener } from '../../support/receivers/mail-listener.ts';
import { mandate } from '../../support/processes/program.ts';

let folder: string;
let trust: { NODE_EXTRA_CA_CERTS: string };
let server: MailListener | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mandate-mail-'));
  trust = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
  await writeFile(trust.NODE_EXTRA_CA_CERTS, localhostCertificate.cert);
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => server?.close());

const wants = { user: 'shop', password: 'a secret word' };
const tried = (url: string, environment: Record<string, string> = {}) =>
  mandate(['mail', 'test', 'operator@example.com'], {
    SMTP_URL: url,
    SMTP_FROM: 'receipts@shop.example',
    // No test waits for it.
    SMTP_TIMEOUT_SECONDS: '40',
    ...environment,
  });
const urlOf = (scheme: string, port: number) => `${scheme}://shop:a%20secret%20word@localhost:${port}`;

test('an email goes over TLS to a trusted server; another server gets not even the password', async () => {
  server = await startMailListener({ wants }, localhostCertificate);
  const distrusted = await tried(urlOf('smtps', server.port));
  expect(distrusted).toMatchObject({ code: 1, errors: expect.stringContaining('ESOCKET') });
  expect(distrusted.errors).not.toContain('secret word');
  expect(server.said).toEqual([]);

  const trusted = await tried(urlOf('smtps', server.port), trust);
  expect(trusted).toMatchObject({ code: 0, errors: '' });
  expect(server.emails).toMatchObject([
    { to: ['operator@example.com'], headers: { subject: 'Mandate test email' } },
  ]);
});

test('an email goes after STARTTLS to a trusted server', async () => {
  server = await startMailListener({ wants, startTls: localhostCertificate });
  expect(await tried(urlOf('smtp', server.port))).toMatchObject({ code: 1 });
  expect(server.said.join()).not.toContain('AUTH');
  expect(await tried(urlOf('smtp', server.port), trust)).toMatchObject({ code: 0 });
  expect(server.emails).toHaveLength(1);
});

test('missing settings are named', async () => {
  const { code, errors } = await mandate(['mail', 'test', 'operator@example.com'], {});
  expect([code, errors]).toEqual([1, expect.stringContaining('SMTP_URL')]);
});
