// A small mail server for tests on the loopback address: it accepts emails, or fails as a test wants.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

export type MailListener = {
  readonly port: number;
  /** Every email that arrived completely. */
  readonly emails: ReceivedEmail[];
  /** Every line that was sent to it outside of emails. */
  readonly said: string[];
  /** From the next connection on. */
  behave(mood: Mood): void;
  close(): Promise<void>;
};

export type Mood = {
  /** Its response to the address of a recipient. */
  readonly toRecipient?: string;
  /** Reads the whole email and disconnects without a response. */
  readonly hangsUpAfterEmail?: boolean;
  /** Says nothing to a connection, and calls this instead. */
  readonly saysNothing?: () => void;
  /** Offers STARTTLS, and nothing else before it. */
  readonly startTls?: { readonly key: string; readonly cert: string };
  readonly wants?: { readonly user: string; readonly password: string };
};

export type ReceivedEmail = {
  readonly from: string;
  readonly to: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** By type, decoded: `text/plain`, `text/html`. */
  readonly parts: Readonly<Record<string, string>>;
};

export async function startMailListener(
  first: Mood = {},
  certificate?: { readonly key: string; readonly cert: string },
): Promise<MailListener> {
  let mood = first;
  const emails: ReceivedEmail[] = [];
  const said: string[] = [];
  const open = new Set<Socket>();
  const converse = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    if (mood.saysNothing) mood.saysNothing();
    else talk(socket, mood, emails, said);
  };
  const server = certificate ? createTlsServer(certificate, converse) : createServer(converse);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    emails,
    said,
    behave: (next) => void (mood = next),
    async close() {
      open.forEach((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function talk(
  socket: Socket,
  mood: Mood,
  emails: ReceivedEmail[],
  said: string[],
  greeting = '220 mail.example',
): void {
  let rest = '';
  let from = '';
  let to: string[] = [];
  let lines: string[] | undefined;
  const answer = (line: string) => socket.write(`${line}\r\n`);

  function hear(line: string): void {
    if (lines) {
      if (line !== '.') return void lines.push(line.startsWith('.') ? line.slice(1) : line);
      emails.push({ from, to, ...readEmail(lines.join('\r\n')) });
      lines = undefined;
      return mood.hangsUpAfterEmail ? void socket.destroy() : void answer('250 2.0.0 taken');
    }
    said.push(line);
    const [verb = '', rests = ''] = line.split(/ (.*)/s);
    switch (verb.toUpperCase()) {
      case 'EHLO':
        if (mood.startTls) return void answer('250-mail.example\r\n250 STARTTLS');
        return void answer(mood.wants ? '250-mail.example\r\n250 AUTH PLAIN' : '250 mail.example');
      case 'STARTTLS': {
        if (!mood.startTls) return void answer('502 5.5.1 what is that');
        answer('220 ready');
        socket.removeAllListeners('data');
        const { startTls, ...after } = mood;
        const secure = new TLSSocket(socket, { isServer: true, ...startTls });
        return talk(
          secure.on('error', () => socket.destroy()),
          after,
          emails,
          said,
          '',
        );
      }
      case 'AUTH': {
        const { user, password } = mood.wants ?? { user: '', password: '' };
        const right = Buffer.from(`\0${user}\0${password}`).toString('base64');
        return void answer(rests === `PLAIN ${right}` ? '235 2.7.0 welcome' : '535 5.7.8 not you');
      }
      case 'MAIL':
        [from, to] = [addressIn(rests), []];
        return void answer('250 2.1.0 ok');
      case 'RCPT': {
        const reply = mood.toRecipient ?? '250 2.1.5 ok';
        if (reply.startsWith('2')) to.push(addressIn(rests));
        return void answer(reply);
      }
      case 'DATA':
        lines = [];
        return void answer('354 end with a dot');
      case 'QUIT':
        answer('221 bye');
        return void socket.end();
      default:
        return void answer('502 5.5.1 what is that');
    }
  }

  if (greeting !== '') answer(greeting);
  socket.on('data', (bytes) => {
    const lines = (rest + bytes.toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    lines.forEach(hear);
  });
}

function addressIn(text: string): string {
  return /<([^>]*)>/.exec(text)?.[1] ?? '';
}

function readEmail(raw: string): Pick<ReceivedEmail, 'headers' | 'parts'> {
  const { headers, body } = divided(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => divided(part.replace(/^\r\n/, '').replace(/\r\n$/, '')))
    .map(({ headers: of, body: content }) => [
      (of['content-type'] ?? '').split(';')[0],
      decoded(content, of['content-transfer-encoding']),
    ]);
  return { headers, parts: Object.fromEntries(parts) };
}

function divided(raw: string): { headers: Record<string, string>; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines
    .map((line) => line.split(/: ?(.*)/s))
    .map(([name = '', value]) => [name.toLowerCase(), value]);
  return { headers: Object.fromEntries(headers), body: raw.slice(end + 4) };
}

function decoded(content: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(content, 'base64').toString('utf8');
  if (encoding !== 'quoted-printable') return content.replaceAll('\r\n', '\n');
  const bytes = content
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}
