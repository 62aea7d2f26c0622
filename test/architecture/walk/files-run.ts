// The files of src whose functions run while a test does something. Loading a file, or reading what it exports, runs none of them.
import { Session, type Profiler } from 'node:inspector';

export type FilesRun = {
  /** Those since the recording began, or since the last call. */
  take(): Set<string>;
  stop(): void;
};

export function recordFilesRun(): FilesRun {
  const session = new Session();
  session.connect();
  session.post('Debugger.enable');
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const texts = new Map<string, string>();

  function textOf(scriptId: string): string {
    if (!texts.has(scriptId))
      session.post('Debugger.getScriptSource', { scriptId }, (_, { scriptSource }) => {
        texts.set(scriptId, scriptSource);
      });
    return texts.get(scriptId) ?? '';
  }

  function hasRun({ scriptId, functions }: Profiler.ScriptCoverage): boolean {
    return functions.some(({ ranges: [whole] }) => {
      if (!whole || whole.count === 0 || whole.startOffset === 0) return false;
      return !readsExport.test(textOf(scriptId).slice(whole.startOffset, whole.endOffset));
    });
  }

  const self = {
    take() {
      const files = new Set<string>();
      // The session is in this thread, so that it answers at once.
      session.post('Profiler.takePreciseCoverage', (_, { result }) => {
        for (const script of result) {
          const path = /\/(src\/.+\.ts)$/.exec(script.url)?.[1];
          if (path !== undefined && hasRun(script)) files.add(path);
        }
      });
      return files;
    },
    stop: () => session.disconnect(),
  };
  self.take();
  return self;
}

/** A function that the loader of the tests adds for each export. */
const readsExport = /^\(\)\s*=>\s*\{\s*(?:try\s*\{\s*)?return [\w$]+;?\s*\}/;
