import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { answerOf } from '../answerOf.js';
import { type PageEvents, pageEvents } from '../pageEvents.js';
import { assertArrivedOnce, sendAll } from './arrivingOnce.js';
import { type Cluster, type ClusterNode, startCluster } from './cluster.js';
import { askCrosswise, call, guessTogether, jsonOf } from './clusterSteps.js';
import { standStill } from './standstill.js';

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

test.serial('what is signed in, signed out, revoked or ended at one node is so at the other in the next request', (t) =>
	askCrosswise(t, cluster, rounds(200)),
);

test.serial('of 100 tries at once at two nodes the limit lets exactly its number through', (t) =>
	guessTogether(t, cluster, rounds(50)),
);

test.serial('a page hears of a folder, a ticket and a job of another node within three seconds', async (t) => {
	type Kind = 'folder' | 'ticket' | 'job';
	const users = 8;
	const each = Math.ceil(rounds(1000) / users);
	const spans: Record<Kind, number[]> = { folder: [], ticket: [], job: [] };
	const listenAs = async (name: string) => {
		const { nodes } = cluster;
		const cookie = await nodes[0].server.register(name);
		const pages = await Promise.all(nodes.map((node) => pageEvents({ ...node.server, url: node.url }, cookie)));
		const create = (at: ClusterNode, folderName: string) =>
			call(at, 'POST', 'createFolder', cookie, { type: 'private', directory: '', folderName });
		t.is((await create(nodes[0], 'set')).status, 200);
		await writeFile(path.join(cluster.filesDir, 'users', name, 'set/a.txt'), 'a file');
		type Heard = (event: PageEvents['received'][number]) => boolean;
		/** Each does something at a node, and resolves to what a page is to hear of it. */
		const kinds: Record<Kind, (at: ClusterNode, round: number) => Promise<Heard>> = {
			async folder(at, round) {
				t.is((await create(at, `${round}`)).status, 200);
				return ({ event }) => event === 'changed';
			},
			async ticket(at) {
				const selection = { files: [{ path: 'set' }], type: 'private', directory: '' };
				const { ticket, url } = jsonOf(await call(at, 'POST', 'downloadTickets', cookie, selection));
				t.is((await answerOf(new URL(url, at.url), 'GET', { cookie })).status, 200);
				return ({ event, data }) => event === 'ticket' && data.ticket === ticket && data.state === 'done';
			},
			async job(at, round) {
				// A user has only so many that wait.
				const isOver = async () =>
					jsonOf(await call(at, 'GET', 'jobs', cookie)).every(
						(job: { endTime: number | null }) => job.endTime !== null,
					);
				while (!(await isOver())) await wait(100);
				t.is((await create(at, `to ${round}`)).status, 200);
				const input = { kind: 'copy', type: 'private', directory: `to ${round}`, items: [{ path: 'set' }] };
				const made = await call(at, 'POST', 'jobs', cookie, input);
				t.is(made.status, 202);
				const { id } = jsonOf(made);
				return ({ event, data }) => event === 'job' && (data.job as { id: string }).id === id;
			},
		};
		for (const [kind, act] of Object.entries(kinds)) {
			for (let round = 0; round < each; round++) {
				const { received } = pages[round % 2] as PageEvents;
				const before = received.length;
				const isIt = await act([...nodes].reverse()[round % 2] as ClusterNode, round);
				const begun = performance.now();
				while (!received.slice(before).some(isIt) && performance.now() - begun < 30_000) await wait(5);
				const span = received.slice(before).some(isIt) ? performance.now() - begun : Number.POSITIVE_INFINITY;
				spans[kind as Kind].push(span);
			}
		}
		for (const page of pages) await page.close();
	};
	await Promise.all(Array.from({ length: users }, (_, n) => listenAs(`eve${n}`)));
	for (const [kind, all] of Object.entries(spans)) {
		all.sort((a, b) => a - b);
		const at = (part: number) => all[Math.floor((all.length - 1) * part)]?.toFixed(0);
		t.log(`${kind}: ${all.length} rounds, median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
		t.is(all.filter((span) => span > 3000).length, 0, kind);
	}
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

// With a TEST_SHARE of 10 it is 20 stops, 200 rounds.
test.serial(
	'a node that stands still in the middle of moves, copies, uploads and moves of homes does nothing twice when it goes on',
	(t) => standStill(t, cluster, rounds(2)),
);
