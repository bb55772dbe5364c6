import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { MemoryStorage } from '@stowage/conformance';
import { Failure, joinPath, parsePath } from '@stowage/rules';
import test from 'ava';
import { copiesFolder, sweepAcross } from '../../src/trees/across/copies.js';
import { copyAcross } from '../../src/trees/across/copyAcross.js';

const p = parsePath;
const hourMs = 60 * 60_000;

async function* bytes() {
	yield Buffer.from('content');
}

test('a copy to another root that no checkpoint names is not swept while a folder in it takes hours', async (t) => {
	mock.timers.enable({ apis: ['setInterval'] });
	t.teardown(() => mock.timers.reset());
	const [source, target] = [new MemoryStorage(), new MemoryStorage()];
	await source.makeDirectory(p('big'));
	await source.makeDirectory(p('big/one'));
	const staged = await source.stage();
	await staged.append(bytes(), 0);
	await staged.commit(p('big/one/film.mp4'));
	let release = () => {};
	const released = new Promise<void>((resolve) => {
		release = resolve;
	});
	const sweep = () =>
		sweepAcross(target, { staged: 0, copies: Date.now() - hourMs, uploadCopies: 0 }, async () => false);
	let copied: Promise<unknown> = Promise.resolve();
	await new Promise<void>((resolve, reject) => {
		const beforeItem = async ({ type }: { type: string }) => {
			if (type !== 'file') return;
			resolve();
			await released;
		};
		copied = copyAcross(source, p('big'), target, p('arrived'), { beforeItem });
		copied.catch(reject);
	});
	let folder = copiesFolder;
	for await (const batch of target.list(copiesFolder)) for (const { name } of batch) folder = joinPath(folder, name);
	await target.setFolderTime(folder, Date.now() - 2 * hourMs);
	mock.timers.tick(10 * 60_000);
	await turn();
	await sweep();
	release();
	await copied;
	t.is((await target.stat(p('arrived/one/film.mp4'))).size, 'content'.length);
	await target.makeDirectory(folder);
	await target.setFolderTime(folder, Date.now() - 2 * hourMs);
	mock.timers.tick(10 * 60_000);
	await turn();
	await sweep();
	await t.throwsAsync(target.stat(folder), undefined, 'one that is over is touched no more');
});

test('a copy that can’t be removed holds up no other one', async (t) => {
	const target = new MemoryStorage();
	await target.makeDirectory(copiesFolder);
	const names = ['a', 'b', 'c'].map((digit) => digit.repeat(32));
	for (const name of names) await target.makeDirectory(joinPath(copiesFolder, name));
	const { remove } = target;
	target.remove = async (path) => {
		if (!path.endsWith('b')) throw new Failure('conflict', `mounted in ${path.at(-1)}`);
		await remove.call(target, path);
	};
	const cutoffs = { staged: 0, copies: Date.now() + hourMs, uploadCopies: 0 };
	await t.throwsAsync(
		sweepAcross(target, cutoffs, async () => false),
		{ message: 'mounted in a' },
	);
	const left: string[] = [];
	for await (const batch of target.list(copiesFolder)) for (const { name } of batch) left.push(name);
	t.deepEqual(left, [names[0], names[2]]);
});
