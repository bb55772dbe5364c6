import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { fileTeardown } from '../fileTeardown.js';
import { plainArgs, type ServerProcess, startServer } from '../serverProcess.js';

type Caller = (method: 'POST' | 'DELETE', address: string, body: object) => Promise<number>;

interface Racer {
	call: Caller;
	/** The user's home on the disk. */
	home: string;
}

const shared = fileTeardown();
let started: Promise<{ folder: string; server: ServerProcess }> | undefined;

async function start() {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-races-'));
	shared.teardown(() => rm(folder, { recursive: true, force: true }));
	return { folder, server: await startServer(shared, { args: plainArgs(folder) }) };
}

/** A user of the server that all races share. */
async function newRacer(username: string): Promise<Racer> {
	started ??= start();
	const { folder, server } = await started;
	const cookie = await server.register(username);
	return {
		home: path.join(folder, 'files/users', username),
		async call(method, address, body) {
			const answer = await fetch(`${server.url}/api/${address}`, {
				method,
				headers: { cookie, 'content-type': 'application/json' },
				body: JSON.stringify(body),
			});
			await answer.arrayBuffer();
			return answer.status;
		},
	};
}

const inFolder = ['one.txt', 'inner/two.txt', 'inner/deep/three.txt'];

async function writeFolder(folder: string): Promise<void> {
	await mkdir(path.join(folder, 'inner/deep'), { recursive: true });
	for (const name of inFolder) await writeFile(path.join(folder, name), name);
}

/** The files below a folder; undefined if it does not exist. */
async function filesIn(folder: string): Promise<string[] | undefined> {
	try {
		const entries = await readdir(folder, { recursive: true, withFileTypes: true });
		return entries
			.filter((entry) => entry.isFile())
			.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
			.sort();
	} catch (error) {
		if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
		throw error;
	}
}

const whole = [...inFolder].sort();

/** Deletes a folder and moves it at the same time: one of them succeeds, and the folder is complete or deleted. */
export async function deleteAgainstMove(t: ExecutionContext, races: number): Promise<void> {
	const { call, home } = await newRacer('deleteAgainstMove');
	await mkdir(path.join(home, 'target'));
	const won = { move: 0, remove: 0 };
	for (let race = 0; race < races; race++) {
		const name = `folder ${race}`;
		await writeFolder(path.join(home, name));
		const [moved, removed] = await Promise.all([
			call('POST', 'moveItem', { fromPath: name, toPath: `target/${name}`, type: 'private' }),
			// A delete is faster and would nearly always win.
			wait(race % 8).then(() => call('DELETE', 'deleteItem', { filePath: name, type: 'private' })),
		]);
		t.deepEqual([moved, removed].toSorted(), [200, 404], name);
		won[moved === 200 ? 'move' : 'remove']++;
		t.is(await filesIn(path.join(home, name)), undefined, name);
		t.deepEqual(await filesIn(path.join(home, 'target', name)), moved === 200 ? whole : undefined, name);
	}
	t.log(`${won.move} moves and ${won.remove} deletes won`);
}

/** Two clients rename or move the same folder: one succeeds, the other one is refused, and the folder exists once. */
export async function twoChanges(t: ExecutionContext, races: number): Promise<void> {
	const { call, home } = await newRacer('twoChanges');
	await mkdir(path.join(home, 'left'));
	await mkdir(path.join(home, 'right'));
	for (let race = 0; race < races; race++) {
		const name = `folder ${race}`;
		await writeFolder(path.join(home, name));
		const rename = (newName: string) => call('POST', 'renameItem', { oldPath: name, newName, type: 'private' });
		const move = (to: string) => call('POST', 'moveItem', { fromPath: name, toPath: `${to}/${name}`, type: 'private' });
		const pairs = [
			() => [rename(`${name} a`), rename(`${name} b`)],
			() => [move('left'), move('right')],
			() => [rename(`${name} a`), move('right')],
		];
		const statuses = await Promise.all(pairs[race % pairs.length]?.() ?? []);
		t.deepEqual(statuses.toSorted(), [200, 404], name);
		const places = [name, `${name} a`, `${name} b`, `left/${name}`, `right/${name}`];
		const found = await Promise.all(places.map((place) => filesIn(path.join(home, place))));
		t.deepEqual(
			found.filter((files) => files !== undefined),
			[whole],
			name,
		);
	}
}

/**
 * Two clients move two folders into each other: each is moved or refused for the actual reason, never as a taken name,
 * and nothing is lost.
 */
export async function intoEachOther(t: ExecutionContext, races: number): Promise<void> {
	const { call, home } = await newRacer('intoEachOther');
	const outcomes = new Map<string, number>();
	for (let race = 0; race < races; race++) {
		const [a, b] = [`a ${race}`, `b ${race}`];
		for (const folder of [a, b]) await writeFolder(path.join(home, folder));
		const move = (fromPath: string, to: string) =>
			call('POST', 'moveItem', { fromPath, toPath: `${to}/${fromPath}`, type: 'private' });
		const statuses = await Promise.all([move(a, b), move(b, a)]);
		// If the first folder has moved, the second move creates a new folder of its name, like any move into a missing folder.
		for (const status of statuses) t.true(status === 200 || status === 400, `${statuses}`);
		t.true(statuses.includes(200), `${statuses}`);
		const outcome = statuses.toSorted().join(' and ');
		outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
		const found = await Promise.all([a, b].map((folder) => filesIn(path.join(home, folder))));
		t.is(found.flatMap((files) => files ?? []).length, 2 * inFolder.length, `${statuses}`);
	}
	t.log([...outcomes].map(([outcome, count]) => `${count} × ${outcome}`).join(', '));
}

/** Two clients request one name for two entries: one gets it, and the other one is refused and has lost nothing. */
export async function oneName(t: ExecutionContext, races: number): Promise<void> {
	const { call, home } = await newRacer('oneName');
	for (let race = 0; race < races; race++) {
		for (const side of ['a', 'b']) await writeFile(path.join(home, `${race} ${side}`), side);
		const rename = (oldPath: string) => call('POST', 'renameItem', { oldPath, newName: `${race}`, type: 'private' });
		const create = () => call('POST', 'createFolder', { directory: '', folderName: `new ${race}`, type: 'private' });
		t.deepEqual((await Promise.all([rename(`${race} a`), rename(`${race} b`)])).toSorted(), [200, 409]);
		t.deepEqual((await Promise.all([create(), create()])).toSorted(), [200, 409]);
		t.is((await readdir(home)).filter((name) => [`${race}`, `${race} a`, `${race} b`].includes(name)).length, 2);
	}
}

/** Copies a folder while it is deleted: the copy is complete, or there is none and the call is refused. */
export async function copyAgainstDelete(t: ExecutionContext, races: number, files: number): Promise<void> {
	const { call, home } = await newRacer('copyAgainstDelete');
	const outcomes = { copied: 0, refused: 0 };
	for (let race = 0; race < races; race++) {
		const folder = path.join(home, `above ${race}/folder`);
		await mkdir(folder, { recursive: true });
		for (let n = 0; n < files; n++) await writeFile(path.join(folder, `${n}`), `${n}`);
		const copying = call('POST', 'copyItem', {
			fromPath: `above ${race}/folder`,
			toPath: `copy ${race}`,
			type: 'private',
		});
		// The folder itself, or the one above it.
		const filePath = race % 2 === 0 ? `above ${race}` : `above ${race}/folder`;
		await wait((race * 97) % 500);
		const removed = await call('DELETE', 'deleteItem', { filePath, type: 'private' });
		const copied = await copying;
		t.is(removed, 200);
		t.true(copied === 200 || copied === 404, `${copied}`);
		outcomes[copied === 200 ? 'copied' : 'refused']++;
		t.is((await filesIn(path.join(home, `copy ${race}`)))?.length, copied === 200 ? files : undefined);
	}
	t.log(`${outcomes.copied} copies were whole, ${outcomes.refused} were refused`);
}
