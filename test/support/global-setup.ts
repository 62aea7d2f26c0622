// Runs once per test run: starts a temporary PostgreSQL with a migrated template database, which every test file copies. It also builds
// the program for tests that start processes.
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { grantsScript } from '../../src/platform/database/roles/grants.ts';
import { testsByKind } from '../../tools/tests/test-kinds.ts';
import { installBuiltProgram } from './processes/built-program.ts';
import { writePlainSources } from './processes/plain-sources.ts';
import {
  createRole,
  serviceRole,
  startTestCluster,
  templateName,
  temporaryFolder,
  type TestCluster,
} from './database/test-cluster.ts';

export type ClusterConnection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    cluster: ClusterConnection;
    /** The file that runs it. */
    builtProgram: string;
    /** The folder of the sources as Node runs them. */
    plainSources: string;
  }
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** The program is built only if a test of this run needs it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { folder, remove } = temporaryFolder();
  const { process, campaign } = testsByKind(repository);
  const using = new Set([...process, ...campaign]);
  const isUsed = project.vitest.state.getPaths().some((path) => using.has(relative(repository, path)));
  // Run together, because each uses what the other leaves idle.
  const [{ connection, stop }] = await Promise.all([
    startWithTemplate(),
    isUsed && provideProgram(project, folder),
  ]);
  project.provide('cluster', connection);
  return async () => {
    await remove();
    await stop();
  };
}

async function provideProgram(project: TestProject, folder: string): Promise<void> {
  const plainSources = join(folder, 'plain');
  const [builtProgram] = await Promise.all([installBuiltProgram(folder), writePlainSources(plainSources)]);
  project.provide('builtProgram', builtProgram);
  project.provide('plainSources', plainSources);
}

async function startWithTemplate(): Promise<TestCluster> {
  const cluster = await startTestCluster();
  const { connection } = cluster;
  await createRole(connection, serviceRole);
  const administration = openDatabase({ connection, maxConnections: 1 });
  await administration.withClient((client) => client.query(`create database ${templateName}`));
  await administration.end();
  const template = openDatabase({
    connection: { ...connection, database: templateName },
    maxConnections: 1,
  });
  await migrate(template);
  await template.withClient((client) => client.query(grantsScript({ service: serviceRole })));
  await template.end();
  return cluster;
}
