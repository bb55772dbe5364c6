import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { localStorageDriver } from '@stowage/storage-local';
import type { ExecutionContext } from 'ava';
import { parseUnrecordedName } from '../../packages/core/src/trees/trash/recording/unrecordedNames.js';
import { openDatabase } from '../../packages/database/src/index.js';
import { memoryFolder } from '../memoryFolder.js';
import { onDisk, requestOf } from '../model/compareWithModel.js';
import { FileModel } from '../model/FileModel.js';
import { type Call, randomCall, seededNumbers } from '../model/randomCalls.js';
import { plainArgs, startServer } from '../serverProcess.js';
import { mountSmallDisk } from './smallDisk.js';

const users = ['ann', 'bob'];

/** Calls whose times say when the next one may be cut. */
const rememberedTimes = 20;

/**
 * Stops the server at a random moment of each of so many random changes, and cuts the power. The contents of all files
 * must then be in the tree or, with a row or a name that says whose they are, in the trash, and what the change does
 * not concern must be where it was.
 */
export async function cutPowerWithinCalls(t: ExecutionContext, count: number, seed: number): Promise<void> {
	const disk = await mountSmallDisk(t, 192);
	if (disk === undefined) {
		t.pass('no disk to cut off');
		return;
	}
	const scratch = await memoryFolder(t, 16);
	const server = await startServer(t, { args: plainArgs(path.join(disk.folder, 'data')) });
	const model = new FileModel();
	const cookies = new Map<string, string>();
	for (const name of users) {
		cookies.set(name, await server.register(name));
		model.addUser(name);
	}
	/** The ids of versions. */
	const learn = async (call: Call) => {
		const answer = await fetch(server.url + call.path, requestOf(call, cookies.get(call.actor ?? '')));
		call.onAnswer?.(await answer.json());
	};
	const next = seededNumbers(seed);
	const times = [10];
	const cutKinds = new Map<string, number>();
	for (let cuts = 0; cuts < count; ) {
		const call = randomCall(next, model, users);
		const [nodes, contents] = [new Map(model.nodes), contentsOf(model)];
		const expected = call.inModel(model);
		// What reads or is refused changes nothing, which the test of the model checks.
		if (expected.status !== 200) continue;
		if (call.method === 'GET') {
			if (call.onAnswer !== undefined) await learn(call);
			continue;
		}
		const context = `seed ${seed}, ${++cuts}: ${call.method} ${call.path} ${JSON.stringify(call.body)}`;
		const cookie = call.actor === undefined ? undefined : cookies.get(call.actor);
		const begun = performance.now();
		let isAnswered = false;
		const answering = answerOf(() => fetch(server.url + call.path, requestOf(call, cookie))).then(async (answer) => {
			const body = await answer.json();
			isAnswered = true;
			times.push(performance.now() - begun);
			t.is(answer.status, 200, context);
			call.onAnswer?.(body);
		});
		await wait(0.8 * next() * median(times.slice(-rememberedTimes)));
		process.kill(server.pid, 'SIGSTOP');
		try {
			await untilStopped(server.pid);
			if (!isAnswered) cutKinds.set(kindOf(call), (cutKinds.get(kindOf(call)) ?? 0) + 1);
			await disk.afterPowerCut(async (folder) => {
				const data = path.join(folder, 'data');
				// It completes what was being replaced.
				await (await localStorageDriver(path.join(data, 'files')).open(undefined)).close();
				const tree = await onDisk(path.join(data, 'files'));
				for (const [name, content] of nodes)
					if (model.nodes.get(name) === content && tree[name] !== content) t.fail(`${name} is as it was: ${context}`);
				const found = countEach([...Object.values(tree), ...(await trashed(data, scratch))]);
				// What is removed for good is in the model no longer.
				const after = contentsOf(model);
				for (const [content, before] of contents)
					if ((found.get(content) ?? 0) < Math.min(before, after.get(content) ?? 0))
						t.fail(`${content} is in the tree or in the trash: ${context}`);
			});
		} finally {
			process.kill(server.pid, 'SIGCONT');
			await answering;
		}
	}
	const within = [...cutKinds.values()].reduce((sum, each) => sum + each, 0);
	t.log(
		`seed ${seed}: ${within} of ${count} cuts came before the answer: ${JSON.stringify(Object.fromEntries(cutKinds))}`,
	);
	t.true(within > count / 20, 'many came before the answer');
}

/** A server that was stopped for long takes itself for overloaded and refuses what arrives, before it does any of it. */
async function answerOf(call: () => Promise<Response>): Promise<Response> {
	for (;;) {
		const answer = await call();
		if (answer.status !== 503) return answer;
		await answer.body?.cancel();
		await wait(1000);
	}
}

const kindOf = ({ method, path, body }: Call) =>
	`${method} ${path.replace(/[0-9a-f]{32}/, '{id}')}${body?.onConflict === undefined ? '' : ' replacing'}`;

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Resolves once no thread of the process is in a system call any more. */
async function untilStopped(pid: number): Promise<void> {
	for (;;) {
		const threads = await readdir(`/proc/${pid}/task`);
		const states = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
		if (states.every((line) => line.slice(line.lastIndexOf(')') + 2).startsWith('T'))) return;
		await wait(1);
	}
}

/** How often there is each content of a file. */
function countEach(contents: readonly (string | null)[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const content of contents) if (content !== null) counts.set(content, (counts.get(content) ?? 0) + 1);
	return counts;
}

function contentsOf(model: FileModel): Map<string, number> {
	const versions = [model.versions, ...model.trash.map((item) => item.versions)].flatMap((each) => [...each.values()]);
	return countEach([
		...model.nodes.values(),
		...model.trash.flatMap(({ nodes }) => [...nodes.values()]),
		...versions.flat().map(({ content }) => content),
	]);
}

/**
 * The contents of all files in the trash that a row names, or that say by their own names what the row will say. The
 * database is read elsewhere: its driver keeps files open for a while.
 */
async function trashed(data: string, scratch: string): Promise<string[]> {
	const copy = await mkdtemp(path.join(scratch, 'database-'));
	for (const file of await readdir(data))
		if (/^stowage\.db(-wal)?$/.test(file)) await cp(path.join(data, file), path.join(copy, file));
	const database = await openDatabase(`sqlite:${path.join(copy, 'stowage.db')}`);
	const rows = await database.trash.list({ order: 'newest', limit: 100_000 });
	await database.close();
	await rm(copy, { recursive: true });
	const folder = path.join(data, 'files/.stowage/trash');
	const arrived = await readdir(path.join(folder, 'arriving')).catch(() => []);
	const kept = [
		...rows.map(({ id }) => id),
		...arrived.filter((name) => parseUnrecordedName(name) !== undefined).map((name) => path.join('arriving', name)),
	];
	const contents: string[] = [];
	for (const each of kept) contents.push(...(await textsWithin(path.join(folder, each))));
	return contents;
}

async function textsWithin(item: string): Promise<string[]> {
	const found = await stat(item).catch(() => undefined);
	if (found === undefined) return [];
	if (found.isFile()) return [await readFile(item, 'utf8')];
	const entries = await readdir(item, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile());
	return Promise.all(files.map((entry) => readFile(path.join(entry.parentPath, entry.name), 'utf8')));
}
