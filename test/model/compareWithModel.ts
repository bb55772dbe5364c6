import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { plainArgs, startServer } from '../serverProcess.js';
import { FileModel, type ModelRow } from './FileModel.js';
import { type Call, randomCall, seededNumbers } from './randomCalls.js';

const users = ['ann', 'bob'];

interface Options {
	databaseUrl?: string;
	/** Whether the second user and all visitors have their files on a disk of their own. */
	hasTwoRoots?: boolean;
}

/** Makes random calls, the same for the same seed, and compares each answer, and the disk every 200 calls, with the model. */
export async function compareWithModel(
	t: ExecutionContext,
	steps: number,
	seed: number,
	{ databaseUrl, hasTwoRoots = false }: Options = {},
): Promise<void> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-model-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const flags = ['--data-dir', folder, ...(databaseUrl === undefined ? [] : ['--database-url', databaseUrl])];
	const server = await startServer(t, { args: plainArgs(folder, ...flags.slice(2)) });
	const second = path.join(folder, 'second');
	const model = new FileModel();
	const cookies = new Map<string, string>();
	for (const name of users) {
		cookies.set(name, await server.register(name));
		model.addUser(name);
		if (!hasTwoRoots || name !== users[0]) continue;
		await mkdir(second);
		for (const words of [
			['add', 'second', second],
			['set-default', 'second'],
		])
			execFileSync(process.execPath, ['cli/bin/stowage.js', 'root', ...words, ...flags]);
	}
	const roots = [path.join(folder, 'files'), ...(hasTwoRoots ? [second] : [])];
	const next = seededNumbers(seed);
	const statuses = new Map<number, number>();
	for (let step = 0; step < steps; step++) {
		const call = randomCall(next, model, users);
		const cookie = call.actor === undefined ? undefined : cookies.get(call.actor);
		const expected = call.inModel(model);
		// A folder is downloaded as an archive, which has tests of its own.
		if (expected.content === null) continue;
		const answer = await fetch(server.url + call.path, requestOf(call, cookie));
		const answered = await answerOf(call, answer);
		const context = `seed ${seed}, step ${step}: ${call.actor} ${call.method} ${call.path} ${JSON.stringify(call.body)} ${call.file?.name}`;
		if (!t.deepEqual(answered, expectedAnswer(expected), context)) return;
		statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
		if (step % 200 === 199 && !t.deepEqual(await onDisk(...roots), inOrder(model), context)) return;
	}
	t.deepEqual(await onDisk(...roots), inOrder(model), `seed ${seed}`);
	if (hasTwoRoots) {
		const homes = await Promise.all(roots.map((root) => readdir(path.join(root, 'users'))));
		const isOn = (name: string) => homes.map((names) => names.includes(name));
		t.deepEqual(
			[isOn('ann'), isOn('bob')],
			[
				[true, false],
				[false, true],
			],
		);
	}
	// In a short run the rarest may not occur.
	for (const status of steps < 1000 ? [200, 404] : [200, 400, 401, 403, 404, 409]) {
		t.true(statuses.has(status), `${status} was among the answers`);
	}
	t.log(`seed ${seed}: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
}

/** The call as `fetch` makes it. */
export function requestOf({ method, body, file }: Call, cookie: string | undefined): RequestInit {
	const headers: Record<string, string> = cookie === undefined ? {} : { cookie };
	if (method === 'GET') return { headers };
	if (file === undefined) {
		return { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
	}
	const form = new FormData();
	for (const [key, value] of Object.entries(body ?? {})) form.set(key, String(value));
	form.set('file', new Blob([file.content]), file.name);
	return { method, headers, body: form };
}

interface Answer {
	status: number;
	entry?: { path: string; type: string };
	rows?: string[];
	content?: string | null;
	/** The bytes of versions, the newest first. */
	versions?: number[];
	restored?: string;
	failed?: string;
	members?: readonly string[];
}

interface AnswerBody {
	members?: { username: string; role: string }[];
	entry?: ModelRow;
	entries?: ModelRow[];
	trashId?: string;
	versions?: { id: string; size: number }[];
	restored?: { path: string }[];
	failed?: { code: string }[];
}

/** The parts of an answer that the model knows. */
export async function answerOf(call: Call, answer: Response): Promise<Answer> {
	const { status } = answer;
	if (status !== 200) {
		await answer.body?.cancel();
		return { status };
	}
	if (call.path.startsWith('/api/download/')) return { status, content: await answer.text() };
	const body = (await answer.json()) as AnswerBody;
	call.onAnswer?.(body);
	const { entry, entries, restored, failed, versions, members } = body;
	if (members !== undefined)
		return { status, members: members.map(({ username, role }) => `${username} ${role}`).sort() };
	if (versions !== undefined) return { status, versions: versions.map(({ size }) => size) };
	if (call.method === 'GET') return { status, rows: rowsOf(entries ?? []) };
	if (restored?.[0] !== undefined) return { status, restored: restored[0].path };
	if (failed?.[0] !== undefined) return { status, failed: failed[0].code };
	const made = entry ?? entries?.[0];
	return made === undefined ? { status } : { status, entry: { path: made.path, type: made.type } };
}

export function expectedAnswer({ rows, versions, ...expected }: ReturnType<Call['inModel']>): Answer {
	if (versions !== undefined) return { ...expected, versions: versions.map(({ content }) => content.length) };
	return rows === undefined ? expected : { ...expected, rows: rowsOf(rows) };
}

/** Rows without their order, which the page chooses, and without times. */
export function rowsOf(rows: readonly ModelRow[]): string[] {
	return rows
		.map(({ path, type, size, owner, count, versions, role, protected: isProtected }) =>
			JSON.stringify({ path, type, size, owner, count, versions, role, isProtected }),
		)
		.sort();
}

/** The contents of storage roots as one, without the server's own folders. */
export async function onDisk(...roots: string[]): Promise<Record<string, string | null>> {
	const found: [string, string | null][] = [];
	for (const root of roots) {
		const add = async (full: string, isFolder: boolean) =>
			found.push([path.relative(root, full), isFolder ? null : await readFile(full, 'utf8')]);
		for (const top of await readdir(root, { withFileTypes: true })) {
			// The server moves its own files at any time.
			if (top.name.startsWith('.stowage')) continue;
			// What is copied from one root to another grows in here, and nothing stays.
			if (top.name !== 'copies') await add(path.join(root, top.name), top.isDirectory());
			if (!top.isDirectory()) continue;
			for (const entry of await readdir(path.join(root, top.name), { recursive: true, withFileTypes: true }))
				await add(path.join(entry.parentPath, entry.name), entry.isDirectory());
		}
	}
	return Object.fromEntries(found.sort(byName));
}

/** The model in the same form. */
export function inOrder(model: FileModel): Record<string, string | null> {
	return Object.fromEntries([...model.nodes].sort(byName));
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
