// A database for one test file: a copy of the migrated template, created in about 40 ms and dropped at the end.
import { inject } from 'vitest';
import { openDatabase, type DatabasePool } from '../../../src/platform/database/database.ts';
import { randomText } from '../../../src/ids.ts';
import { recordBeforeDrop } from '../../histories/record-before-drop.ts';
import type { ClusterConnection } from '../global-setup.ts';
import { serviceRole, templateName } from './test-cluster.ts';
import { partitionSchema } from './partitioned-schema.ts';

export type TestDatabase = {
  /** As the owner of the tables. */
  readonly database: DatabasePool;
  /** With no more rights than a service in production. */
  readonly asService: DatabasePool;
  /** For another process, as its DATABASE_URL. */
  readonly url: string;
  drop(): Promise<void>;
};

/** `empty` has no schema, and `partitioned` has tables partitioned as they could be distributed. */
export async function createTestDatabase(
  kind: 'migrated' | 'partitioned' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  const cluster = inject('cluster');
  const name = `test_${randomText(12).toLowerCase()}`;
  const template = kind !== 'empty' ? `template ${templateName} strategy file_copy` : '';
  await administer(cluster, `create database ${name} ${template}`);
  const connection = { ...cluster, database: name };
  const database = openDatabase({ connection, maxConnections: 10 });
  // Connects at its first use, and that many tests never come to.
  const asService = openDatabase({ connection: { ...connection, user: serviceRole }, maxConnections: 10 });
  if (kind === 'partitioned') await database.withClient(partitionSchema);
  return {
    database,
    asService,
    url: urlOf(connection),
    async drop() {
      await Promise.all([database.end(), asService.end()]);
      await recordBeforeDrop(connection);
      await administer(cluster, `drop database ${name} with (force)`);
    },
  };
}

/** Kept open, because a connection takes as much processor time as the command. The end of the run closes it. */
let administration: DatabasePool | undefined;

async function administer(cluster: ClusterConnection, command: string): Promise<void> {
  administration ??= openDatabase({ connection: cluster, maxConnections: 1 });
  await administration.withClient((client) => client.query(command));
}

function urlOf({ host, port, user, password, database }: ClusterConnection): string {
  const credentials = `${user}:${encodeURIComponent(password)}`;
  return `postgresql://${credentials}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}
