// The settings of this process, read from its environment and checked once, at the start.
import { mailServerIn } from '../platform/mail/mail-settings.ts';
import { liveModeFaults, liveModeWarnings } from './settings/live-mode-faults.ts';
import { misspeltSettings, type MisspeltSetting } from './settings/misspelt-settings.ts';
import { addressFault, type Mode, type Setting, type ValueOf } from './settings/setting.ts';
import { settings } from './settings/settings.ts';

/** The values that the settings lead to. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

type Values = { readonly [Key in keyof typeof settings]: ValueOf<(typeof settings)[Key]> };
type Environment = Readonly<Record<string, string | undefined>>;

class ConfigurationFault extends Error {
  constructor(faults: readonly string[], misspelt: readonly string[]) {
    const list = (lines: readonly string[]) => lines.map((line) => `\n  - ${line}`).join('');
    const ignored =
      misspelt.length > 0 ? `\nThese names are not settings, and are ignored:${list(misspelt)}` : '';
    super(`Correct these settings in the environment:${list(faults)}${ignored}`);
  }
}

/** Names of the environment that are probably misspelt settings. */
export function misspeltIn(environment: Environment): MisspeltSetting[] {
  return misspeltSettings(
    environment,
    Object.values(settings).map(({ name }) => name),
  );
}

export function textOfMisspelt({ name, nearest }: MisspeltSetting): string {
  const hint = nearest === undefined ? '"mandate config" lists all settings.' : `Did you mean ${nearest}?`;
  return `${name} is not a setting. ${hint}`;
}

export function readConfig(environment: Environment, workingFolder: string) {
  const faults: string[] = [];
  const valueOf = <Value>(setting: Setting<Value>, mode: Mode): Value =>
    setting.read(environment[setting.name] || undefined, {
      mode,
      workingFolder,
      addFault: (fault) => void faults.push(fault),
    });
  const mode = valueOf(settings.mode, 'sandbox');
  const rows = Object.entries<Setting<unknown>>({
    ...settings,
    mode: { ...settings.mode, read: () => mode },
  });
  const values = Object.fromEntries(rows.map(([key, row]) => [key, valueOf(row, mode)])) as Values;

  const usualHost = environment['PGHOST'];
  const rejectUnauthorized = environment['NODE_TLS_REJECT_UNAUTHORIZED'];
  if (mode === 'live')
    faults.push(
      ...missingInLive(environment),
      ...liveModeFaults({ ...values, usualHost, rejectUnauthorized }),
    );
  // If it were ignored, cards would be charged amounts that the operator did not choose.
  if ('BINDING_TEST_CHARGES' in environment)
    faults.push('BINDING_TEST_CHARGES is now called BINDING_VERIFICATION_CHARGES. Rename it.');
  const mail = mailServerIn({ url: values.smtpUrl, from: values.smtpFrom, timeoutMs: values.smtpTimeoutMs });
  if (mail && 'fault' in mail) faults.push(mail.fault);

  const publicUrl = values.publicUrl ?? `http://${reachable(values.host)}:${values.port}`;
  if (values.publicUrl === undefined && addressFault(publicUrl) !== undefined)
    faults.push(`HOST is "${values.host}". Use the address or the name of an interface of this machine.`);

  if (faults.length > 0) throw new ConfigurationFault(faults, misspeltIn(environment).map(textOfMisspelt));
  return {
    ...values,
    /** For the log, at each start. */
    warnings: mode === 'live' ? liveModeWarnings({ ...values, usualHost, publicUrl }) : [],
    publicUrl: publicUrl.replace(/\/$/, ''),
    mailServer: mail && 'server' in mail ? mail.server : undefined,
  };
}

function missingInLive(environment: Environment): string[] {
  const isMissing = (setting: Setting<unknown>) => !environment[setting.name];
  return [
    ...(isMissing(settings.databaseUrl)
      ? ['DATABASE_URL is not set. Live mode requires one: the private PostgreSQL is for the sandbox.']
      : []),
    ...(isMissing(settings.masterKey)
      ? [
          'MANDATE_MASTER_KEY is not set. Live mode requires it: create one with `openssl rand -base64 32`, and keep it apart from the backups.',
        ]
      : []),
  ];
}

/** If the service listens on all addresses, this one reaches it from the same machine. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
