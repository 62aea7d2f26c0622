// Makes a database unreachable for a while: its server refuses and ends every connection to it. Or makes it fail where it reads some tables.
import pg from 'pg';
import { expect, inject } from 'vitest';
import type { TestService } from '../service/test-service.ts';

export async function withoutDatabase(service: TestService, work: () => Promise<void>): Promise<void> {
  const name = await nameOf(service);
  await asOperator('postgres', async (client) => {
    try {
      await client.query(`alter database ${name} allow_connections false`);
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
      await expect
        .poll(() => service.database.connections().total, { timeout: 30_000, interval: 10 })
        .toBe(0);
      await work();
    } finally {
      await client.query(`alter database ${name} allow_connections true`);
    }
  });
}

export async function withoutTables(
  service: TestService,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  await asOperator(await nameOf(service), async (client) => {
    for (const table of tables) await client.query(`alter table ${table} rename to ${table}_away`);
    try {
      await work();
    } finally {
      for (const table of tables) await client.query(`alter table ${table}_away rename to ${table}`);
    }
  });
}

async function nameOf(service: TestService): Promise<string> {
  const { rows } = await service.database.withClient((own) => own.query('select current_database() as name'));
  return rows[0].name;
}

/** Of the cluster, on a separate connection. */
async function asOperator(database: string, act: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ ...inject('cluster'), user: 'postgres', database });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
