// The foundation of the service and of every command: the migrated database, the keys and the vault.
import { join } from 'node:path';
import type { OpenLink } from '../../acquiring/adapters/http/link.ts';
import type { MadeFor } from '../../cards/domain/payment-resource.ts';
import { openVault, type VaultOptions } from '../../cards/vault.ts';
import { systemClock, type Clock } from '../../clock.ts';
import { loadCustomerOfPayer } from '../../customers/store/customers.ts';
import { defined } from '../../defined.ts';
import { randomIds, type Ids } from '../../ids.ts';
import { loadInvoice } from '../../invoices/store/invoices.ts';
import { livemodeOf } from '../../livemode.ts';
import { openApiKeys } from '../../merchants/api-keys.ts';
import { requireSameMode } from '../../merchants/livemode.ts';
import type { SetUp } from '../../not-set-up.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  migrate,
  refuseEarlierSchema,
  requireMigrations,
  requireTables,
} from '../../platform/database/migrate.ts';
import type { Pause } from '../../platform/jobs/waits.ts';
import { openKeyring } from '../../platform/keys/keyring.ts';
import { localMasterKey, sandboxMasterKey } from '../../platform/keys/master-key.ts';
import type { Logger } from '../../platform/log.ts';
import type { OpenMailServer } from '../../platform/mail/mail-server.ts';
import { isTestCard, standInNumber } from '../../sandbox/bank/test-cards.ts';
import type { OpenSender } from '../../webhooks/delivery/http-sender.ts';
import type { KeyPairs } from '../../webhooks/registration/key-pair-pool.ts';
import type { Config } from '../config.ts';
import { connectDatabase, type OpenedDatabase } from '../connect-database.ts';

/** What comes from outside the program and is replaced in tests and simulations. */
export type Ports = {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly network?: Network;
  /** Between two looks at what another job decides. */
  readonly pause?: Pause;
  /** Before a gauge is left out of what is scraped. */
  readonly longestGaugeReadMs?: number;
  /** In a node of several processes. */
  readonly workers?: Workers;
  /** For webhooks. */
  readonly makeKeyPairs?: () => Promise<KeyPairs>;
};
/** The workers of a node as one of them sees them. */
export type Workers = {
  /** Whether all have served once. */
  isComplete(): boolean;
  renderMetrics(): Promise<string>;
};
/** How messages leave the service: to banks, to merchants, and as emails to payers. */
export type Network = {
  readonly openLink: OpenLink;
  readonly openSender: OpenSender;
  readonly openMailServer?: OpenMailServer;
};
const realPorts: Ports = { clock: systemClock, ids: randomIds };

/** What every subcommand needs: the migrated database and the keys. */
export type Foundation = Awaited<ReturnType<typeof foundationOn>>;

export async function openFoundation(
  config: Config,
  log: Logger,
  setUp: SetUp,
  workers?: Workers,
): Promise<Foundation> {
  const ports = { ...realPorts, ...defined({ workers }) };
  return foundationOn(await connectDatabase(config, log, setUp), config, log, ports, setUp);
}

/** The database alone, in any mode and with any master key. Nothing is migrated. */
export async function databaseInUse(config: Config, log: Logger): Promise<OpenedDatabase> {
  const opened = await connectDatabase(config, log, { mayCreate: false });
  try {
    await refuseEarlierSchema(opened.database);
    await requireTables(opened.database);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The foundation on an open database. It closes the database in the end, also when it fails itself. */
export async function foundationOn(
  { database, close }: OpenedDatabase,
  config: Config,
  log: Logger,
  ports: Ports,
  setUp: SetUp = { mayCreate: true },
) {
  try {
    const livemode = livemodeOf(config.mode);
    await refuseEarlierSchema(database);
    // Before the migrations: a command in the wrong mode must not migrate.
    await requireSameMode(database, livemode, ports.clock);
    if (setUp.mayCreate) for (const name of await migrate(database)) log.info({ name }, 'migration applied');
    else await requireMigrations(database);
    const masterKey = localMasterKey(
      config.masterKey ?? sandboxMasterKey(join(config.dataFolder, 'master.key'), setUp),
    );
    const keyring = await openKeyring(database.lookups, masterKey, ports.clock, setUp);
    let closed: Promise<void> | undefined;
    const { clock } = ports;
    const { lookups } = database;
    const apiKeys = openApiKeys({ db: database, lookups, keyring, clock, livemode });
    const vault = openVault({
      db: database,
      keyring,
      masterKey,
      ...ports,
      hasEnded,
      ...cardNumbersOf(config),
    });
    return {
      config,
      ports,
      log,
      database,
      keyring,
      apiKeys,
      vault,
      close: () => {
        keyring.stop();
        return (closed ??= close());
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A sandbox keeps no number of a real card: the simulated bank answers the stand-in as any number outside its table. */
function cardNumbersOf({ mode, bankUrl, realCards }: Config): Pick<VaultOptions, 'standIn' | 'takes'> {
  if (mode === 'live') return {};
  if (bankUrl !== undefined) return realCards ? {} : { takes: isTestCard };
  return { standIn: (number) => (isTestCard(number) ? undefined : standInNumber) };
}

/** The token of an object that has ended is still in browsers. An invoice has ended once it takes no more payments. */
async function hasEnded(db: Pick<Database, 'run'>, { kind, id }: MadeFor): Promise<boolean> {
  if (kind === 'customer') return (await loadCustomerOfPayer(db, id))?.customer.state.name === 'deleted';
  const status = (await loadInvoice(db, id))?.status;
  return status !== undefined && status !== 'unpaid';
}
