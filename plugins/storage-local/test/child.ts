/**
 * A separate process for tests: `child.ts <root> <root's id> <task> ...`. Prints `ready` once the storage is open, and
 * at the end `answer: done` or the kind of the Failure.
 */
import { writeSync } from 'node:fs';
import { hasWatch } from '@stowage/plugin-api';
import { isFailure, parsePath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import { killingCalls } from './killingCalls.js';

const [root = '', rootId = '', task = '', first = '', second = '', third = ''] = process.argv.slice(2);
const calls = task === 'copyAndDie' ? { calls: await killingCalls() } : {};
const storage = await localStorageDriver(root, calls).open(rootId);
writeSync(1, 'ready\n');

const tasks: Record<string, () => Promise<unknown>> = {
	copy: () => storage.copy(parsePath(first), parsePath(second)),
	/** The process is killed in the middle. */
	copyAndDie: () => storage.copy(parsePath(first), parsePath(second)),
	/** The process is killed before this many files are copied. */
	stagedCopyAndDie: () => stagedCopy(() => process.kill(process.pid, 'SIGKILL')),
	/** The copy is suspended before this many files are copied. */
	stagedCopyAndHold: () =>
		stagedCopy(() => {
			writeSync(1, 'holding\n');
			return new Promise(() => setInterval(() => {}, 60_000));
		}),
	commit: async () => (await storage.stage(first)).commit(parsePath(second)),
	put: async () => {
		const staged = await storage.stage();
		await staged.append(
			(async function* () {
				yield Buffer.from('content');
			})(),
			0,
		);
		return staged.commit(parsePath(first));
	},
	/** Commits under the first free one of a hundred names. */
	commitBeside: async () =>
		(await storage.stage(first)).commit(parsePath(second), {
			otherNames: Array.from({ length: 100 }, (_, n) => `${n}`),
		}),
	/** Commits although the sync failed. */
	syncAndCommit: async () => {
		const staged = await storage.stage(first);
		await staged.sync().catch(() => writeSync(1, 'not synced\n'));
		return staged.commit(parsePath(second));
	},
	/** Replaces a file by a staged one. */
	replace: async () => {
		const { version } = await storage.stat(parsePath(second));
		return (await storage.stage(first)).commit(parsePath(second), { onConflict: { replace: version } });
	},
	move: () => storage.move(parsePath(first), parsePath(second)),
	remove: () => storage.remove(parsePath(first)),
	makeDirectory: () => storage.makeDirectory(parsePath(first)),
	watch: async () => {
		if (!hasWatch(storage)) throw new Error('The storage cannot watch folders.');
		const watch = await storage.watch(parsePath(first), { onChange: () => {}, onEnd: () => {} });
		if (watch === undefined) writeSync(1, 'answer: not watched\n');
	},
	/** Appends until the standard input ends. */
	hold: async () => {
		const staged = await storage.stage(first);
		await staged.append(
			(async function* () {
				yield Buffer.from('held');
				writeSync(1, 'holding\n');
				for await (const _ of process.stdin);
			})(),
			0,
		);
	},
};

function stagedCopy(interrupt: () => unknown): Promise<unknown> {
	let items = 0;
	return storage.copy(parsePath(first), parsePath(second), {
		staged: { onBegin: async (id) => void writeSync(1, `begun ${id}\n`) },
		async beforeItem() {
			if (++items === Number(third)) await interrupt();
		},
	});
}

try {
	await tasks[task]?.();
	writeSync(1, 'answer: done\n');
} catch (error) {
	if (!isFailure(error)) throw error;
	writeSync(1, `answer: ${error.kind}\n`);
}
await storage.close();
process.exit(0);
