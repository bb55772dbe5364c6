import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { plainArgs, type ServerProcess, startServer } from '../serverProcess.js';
import { requestOf } from './compareWithModel.js';
import { type Actor, FileModel } from './FileModel.js';
import { type Call, randomCallBy, seededNumbers } from './randomCalls.js';

const users = ['ann', 'bob'];

/** Each user and the visitor are two clients, each with a call under way all the time. */
const clientsEach = 2;

/** Few, so that they collide. */
const maxNodes = 30;

/** After so many calls the model is read from the disk: the order of concurrent calls is not predictable. */
const callsBetweenReads = 20;

/** Besides 200, the statuses that a call may get if another client's was faster. */
const refusals = new Set([0, 400, 401, 403, 404, 409, 410, 412, 423]);

/**
 * Random calls by two clients of each user and of a visitor at once, on few paths. Each answer depends on the order of
 * calls; but it is a success or a refusal with the actual reason and never a fault of the server, and a home and its
 * public tree stay.
 */
export async function twoClientsPerHome(t: ExecutionContext, calls: number, seed: number): Promise<void> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-clients-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: plainArgs(folder, '--uploads-anonymous-files-per-hour', '0') });
	const cookies = new Map<Actor, string>();
	for (const name of users) cookies.set(name, await server.register(name));
	const model = new FileModel();
	for (const name of users) model.addUser(name);
	const links: string[] = [];
	const statuses = new Map<number, number>();
	const faults: string[] = [];
	let made = 0;

	const client = async (actor: Actor, number: number) => {
		const next = seededNumbers(seed + number);
		while (made < calls && faults.length === 0) {
			if (made % callsBetweenReads === 0) await readModel(folder, model);
			const call =
				next() < 0.1 ? linkCall(actor, next, model, links) : randomCallBy(actor, next, model, users, { maxNodes });
			// A visitor may do little: most calls that only get a 401 are left out.
			if (call.inModel(model).status === 401 && next() < 0.9) continue;
			made++;
			const { status, text } = await send(server, call, cookies.get(actor));
			if (call.path === '/api/generateTempLink' && status === 200) links[made % 20] = JSON.parse(text).token;
			statuses.set(status, (statuses.get(status) ?? 0) + 1);
			if (status !== 200 && !refusals.has(status)) {
				faults.push(
					`${status} ${text} to ${actor}: ${call.method} ${call.path} ${JSON.stringify(call.body)} ${call.file?.name}`,
				);
			}
			await turn();
		}
	};
	const actors = [...users, undefined].flatMap((actor) => Array<Actor>(clientsEach).fill(actor));
	await Promise.all(actors.map(client));
	t.deepEqual(faults, [], `seed ${seed}`);
	await readModel(folder, model);
	for (const name of users)
		for (const home of [`users/${name}`, `users/${name}/Public`]) t.is(model.nodes.get(home), null, home);
	t.log(`seed ${seed}: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`);
}

/** Makes a temporary link, or follows one. */
function linkCall(actor: Actor, next: () => number, model: FileModel, links: readonly string[]): Call {
	const token = links[Math.floor(next() * links.length)];
	const inModel = () => ({ status: 200 });
	if (token !== undefined && next() < 0.5) return { actor, method: 'GET', path: `/api/temp/${token}`, inModel };
	const paths = model.paths(actor, 'private');
	const filePath = paths[Math.floor(next() * paths.length)] ?? 'a';
	return { actor, method: 'POST', path: '/api/generateTempLink', body: { filePath, expiration: '1h' }, inModel };
}

/** The status and text of an answer; 0 for a download that broke off, as one does whose contents change under it. */
async function send(
	server: ServerProcess,
	call: Call,
	cookie: string | undefined,
): Promise<{ status: number; text: string }> {
	try {
		const answer = await fetch(server.url + call.path, requestOf(call, cookie));
		return { status: answer.status, text: await answer.text() };
	} catch (error) {
		if (/^\/api\/(download|temp)\//.test(call.path)) return { status: 0, text: '' };
		throw new Error(`${call.method} ${call.path} was not answered`, { cause: error });
	}
}

/** Updates the model from the disk, as well as possible while calls change it. */
async function readModel(folder: string, model: FileModel): Promise<void> {
	const files = path.join(folder, 'files');
	const found = new Map<string, string | null>();
	const walk = async (at: string): Promise<void> => {
		// A folder that was moved meanwhile is found the next time.
		const entries = await readdir(path.join(files, at), { withFileTypes: true }).catch(() => []);
		for (const entry of entries) {
			const name = path.join(at, entry.name);
			if (name === '.stowage') continue;
			found.set(name, entry.isDirectory() ? null : '');
			if (entry.isDirectory()) await walk(name);
		}
	};
	await walk('');
	model.nodes.clear();
	for (const [name, content] of found) model.nodes.set(name, content);
}
