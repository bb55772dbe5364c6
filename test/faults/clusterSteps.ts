import type { ExecutionContext } from 'ava';
import { type Answer, answerOf } from '../answerOf.js';
import type { Cluster, ClusterNode } from './cluster.js';

const password = 'correct horse';

export function call(at: { url: string }, method: string, address: string, cookie = '', body?: object, from?: string) {
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

export const jsonOf = ({ body }: Answer) => JSON.parse(body.toString());
const cookieOf = ({ headers }: Answer) => String(headers['set-cookie'] ?? '').split(';')[0] ?? '';

/** Here and there: each round the other way round. */
export function sides({ nodes: [one, two] }: Cluster, round: number): readonly [ClusterNode, ClusterNode] {
	return round % 2 === 0 ? [one, two] : [two, one];
}

const signIn = async (at: ClusterNode, username: string, secret = password) =>
	cookieOf(await call(at, 'POST', 'login', '', { username, password: secret }));

/** What is signed in, signed out, revoked or ended at one node is so at the other in the next request. */
export async function askCrosswise(t: ExecutionContext, cluster: Cluster, all: number): Promise<void> {
	const [one] = cluster.nodes;
	await one.server.register('ada');
	const wrong: Record<string, number> = {};
	const expectStatus = (what: string, { status }: Answer, expected: number) => {
		if (status !== expected) wrong[`${what}: ${status}`] = (wrong[`${what}: ${status}`] ?? 0) + 1;
	};
	let secret = password;
	for (let round = 0; round < all; round++) {
		const [here, there] = sides(cluster, round);
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
}

/** Of 100 tries at once at two nodes the limit lets exactly its number through. */
export async function guessTogether(t: ExecutionContext, cluster: Cluster, all: number): Promise<void> {
	const [one] = cluster.nodes;
	const spans: number[] = [];
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
}
