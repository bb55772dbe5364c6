import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { type Answer, answerOf } from '../answerOf.js';
import { type PageEvents, pageEvents } from '../pageEvents.js';
import { assertArrivedOnce, sendAll } from './arrivingOnce.js';
import { type Cluster, type ClusterNode, startCluster } from './cluster.js';

/** A part of all rounds, for a shorter run. */
const share = Number(process.env.TEST_SHARE ?? 1);
const rounds = (all: number) => Math.max(2, Math.round(all * share));

let cluster: Cluster;
const endings: (() => Promise<void>)[] = [];

test.before(async () => {
	cluster = await startCluster({ teardown: (end) => endings.unshift(end) });
});

test.after.always(async () => {
	for (const end of endings) await end();
});

const password = 'correct horse';

function call(at: { url: string }, method: string, address: string, cookie = '', body?: object, from?: string) {
	return answerOf(
		new URL(`/api/${address}`, at.url),
		method,
		{
			...(cookie === '' ? {} : { cookie }),
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
			...(from === undefined ? {} : { 'x-forwarded-for': from }),
		},
		body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
	);
}

const jsonOf = ({ body }: Answer) => JSON.parse(body.toString());
const cookieOf = ({ headers }: Answer) => String(headers['set-cookie'] ?? '').split(';')[0] ?? '';

/** Here and there: each round the other way round. */
const sides = (round: number): readonly [ClusterNode, ClusterNode] =>
	round % 2 === 0 ? cluster.nodes : [cluster.nodes[1], cluster.nodes[0]];

const signIn = async (at: ClusterNode, username: string, secret = password) =>
	cookieOf(await call(at, 'POST', 'login', '', { username, password: secret }));

test.serial(
	'what is signed in, signed out, revoked or ended at one node is so at the other in the next request',
	async (t) => {
		const [one] = cluster.nodes;
		await one.server.register('ada');
		const wrong: Record<string, number> = {};
		const expectStatus = (what: string, { status }: Answer, expected: number) => {
			if (status !== expected) wrong[`${what}: ${status}`] = (wrong[`${what}: ${status}`] ?? 0) + 1;
		};
		let secret = password;
		const all = rounds(200);
		for (let round = 0; round < all; round++) {
			const [here, there] = sides(round);
			const cookie = await signIn(here, 'ada', secret);
			expectStatus('a session', await call(there, 'GET', 'jobs', cookie), 200);
			const made = await call(here, 'POST', 'createFile', cookie, {
				type: 'private',
				directory: '',
				fileName: `${round}.txt`,
			});
			expectStatus('a file', made, 200);
			const link = await call(here, 'POST', 'generateTempLink', cookie, { filePath: `${round}.txt`, expiration: '1d' });
			const { token } = jsonOf(link);
			expectStatus('a link', await call(there, 'GET', `temp/${token}`), 200);
			const [{ id }] = jsonOf(await call(there, 'GET', 'links', cookie));
			await call(here, 'DELETE', `links/${id}`, cookie);
			expectStatus('a revoked link', await call(there, 'GET', `temp/${token}`), 404);
			const other = await signIn(there, 'ada', secret);
			await call(here, 'GET', 'logout', cookie);
			expectStatus('a session that was signed out', await call(there, 'GET', 'jobs', cookie), 401);
			const next = `${password} ${round}`;
			const changed = await call(there, 'POST', 'password', other, {
				currentPassword: secret,
				newPassword: next,
				newPasswordConfirm: next,
			});
			expectStatus('a new password', changed, 200);
			expectStatus('a session of the old password', await call(here, 'GET', 'jobs', other), 401);
			secret = next;
		}
		t.log(`${all} rounds, ${6 * all} questions at the other node`);
		t.deepEqual(wrong, {});
	},
);

test.serial('of 100 tries at once at two nodes the limit lets exactly its number through', async (t) => {
	const [one] = cluster.nodes;
	const spans: number[] = [];
	const all = rounds(50);
	for (let round = 0; round < all; round++) {
		await one.server.register(`user${round}`);
		const answers = await Promise.all(
			Array.from({ length: 100 }, async (_, n) => {
				const at = cluster.nodes[n % 2] as ClusterNode;
				const begun = performance.now();
				const tried = { username: `user${round}`, password: 'wrong' };
				const { status } = await call(at, 'POST', 'login', '', tried, `10.1.${round}.1`);
				spans.push(performance.now() - begun);
				return status;
			}),
		);
		const counts = Object.fromEntries(
			[...new Set(answers)].map((status) => [status, answers.filter((each) => each === status).length]),
		);
		t.deepEqual(counts, { 401: 10, 429: 90 }, `round ${round}`);
	}
	spans.sort((a, b) => a - b);
	const at = (part: number) => spans[Math.floor(spans.length * part)]?.toFixed(0);
	t.log(`${all} rounds; median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${spans.at(-1)?.toFixed(0)} ms`);
});

test.serial('a page hears of what another node does within three seconds', async (t) => {
	const [one, two] = cluster.nodes;
	const cookie = await one.server.register('eve');
	const pages = await Promise.all([one, two].map((node) => pageEvents({ ...node.server, url: node.url }, cookie)));
	const spans: number[] = [];
	const all = rounds(1000);
	const heard = async ({ received }: PageEvents, before: number) => {
		const begun = performance.now();
		while (received.slice(before).every(({ event }) => event !== 'changed')) {
			if (performance.now() - begun > 30_000) return Number.POSITIVE_INFINITY;
			await wait(5);
		}
		return performance.now() - begun;
	};
	for (let round = 0; round < all; round++) {
		const page = pages[round % 2] as PageEvents;
		const before = page.received.length;
		const at = [two, one][round % 2] as ClusterNode;
		const made = await call(at, 'POST', 'createFolder', cookie, {
			type: 'private',
			directory: '',
			folderName: `${round}`,
		});
		t.is(made.status, 200);
		spans.push(await heard(page, before));
	}
	for (const page of pages) await page.close();
	spans.sort((a, b) => a - b);
	t.log(`median ${spans[Math.floor(all / 2)]?.toFixed(0)} ms, longest ${spans.at(-1)?.toFixed(0)} ms`);
	t.is(spans.filter((span) => span > 3000).length, 0);
});

test.serial('nothing is lost or doubled while a node and its database are killed each minute', async (t) => {
	const { galera, nodes, url, filesDir } = cluster;
	const cookie = await nodes[0].server.register('kim');
	const ending = new AbortController();
	const pause = (ms: number) => wait(ms, undefined, { signal: ending.signal }).catch(() => undefined);
	let kills = 0;
	const killing = (async () => {
		for (await pause(10_000); !ending.signal.aborted; await pause(60_000)) {
			const victim = kills++ % 2;
			await Promise.all([nodes[victim]?.server.stop('SIGKILL'), galera.nodes[victim]?.kill()]);
			await wait(5000);
			await galera.nodes[victim]?.start();
			await nodes[victim]?.start();
		}
	})();
	const load = { uploads: rounds(200), bytes: 50 * 1024 ** 2, forms: rounds(1000), repeatMs: 15_000 };
	const expected = await sendAll(load, () => url, cookie).finally(() => ending.abort());
	await killing;
	await assertArrivedOnce(t, path.join(filesDir, 'users/kim'), expected);
	t.log(`${kills} nodes were killed with their databases`);
});

test.serial('no request fails and no download breaks while the nodes are restarted in turn', async (t) => {
	const { nodes, url } = cluster;
	const cookie = await nodes[0].server.register('ron');
	const big = Buffer.alloc(8 * 1024 ** 2, 'stowage ');
	const form = `--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`;
	const sent = await answerOf(
		new URL('/api/upload', url),
		'POST',
		{ cookie, 'content-type': 'multipart/form-data; boundary=b' },
		Buffer.concat([Buffer.from(form), big, Buffer.from('\r\n--b--\r\n')]),
	);
	t.is(sent.status, 200);
	const failures: Record<string, number> = {};
	const fail = (what: string) => {
		failures[what] = (failures[what] ?? 0) + 1;
	};
	let isOver = false;
	let requests = 0;
	const all = rounds(10_000);
	// Fifty a second, of ten clients.
	const asking = Array.from({ length: 10 }, async () => {
		while (requests < all || !isOver) {
			requests++;
			const [answer] = await Promise.all([
				call({ url }, 'GET', 'jobs', cookie).catch((error: Error) => ({ status: 0, error: error.message })),
				wait(200),
			]);
			if (answer.status !== 200) fail(`a request: ${answer.status}`);
		}
	});
	const downloading = Array.from({ length: 4 }, async () => {
		while (!isOver) {
			const answer = await call({ url }, 'GET', 'download/big.bin?type=private', cookie).catch(() => undefined);
			if (answer?.status !== 200 || !answer.body.equals(big)) fail('a download');
			await wait(500);
		}
	});
	let uploads = 0;
	const uploading = (async () => {
		while (!isOver) {
			const made = await call({ url }, 'POST', 'createFile', cookie, {
				type: 'private',
				directory: '',
				fileName: `u${uploads++}`,
			}).catch(() => ({ status: 0 }));
			if (made.status !== 200) fail(`an upload: ${made.status}`);
			await wait(200);
		}
	})();
	let restarts = 0;
	do {
		const node = nodes[restarts % 2] as ClusterNode;
		t.is(await node.server.stop('SIGTERM'), 0);
		await node.start();
		// The balancer asks twice before it comes back.
		await wait(4000);
		restarts++;
	} while (restarts < 2 || requests < all);
	isOver = true;
	await Promise.all([...asking, ...downloading, uploading]);
	t.log(`${requests} requests, ${uploads} uploads, ${restarts} restarts`);
	t.deepEqual(failures, {});
});
