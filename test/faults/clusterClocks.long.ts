import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../packages/core/test/until.js';
import { type Cluster, startCluster } from './cluster.js';
import { askCrosswise, call, guessTogether, jsonOf } from './clusterSteps.js';

const share = Number(process.env.TEST_SHARE ?? 1);
const rounds = (all: number) => Math.max(2, Math.round(all * share));
const jobsPlugin = pathToFileURL(path.resolve('test/faults/programs/jobsPlugin.js')).href;

test.serial('a node that is ten minutes fast serves nobody, and does no harm', (t) =>
	oneClockIsWrong(t, { servers: [[], ['faketime', '-f', '+600s']] }),
);

test.serial('nor does a node whose database is 30 seconds fast', (t) =>
	oneClockIsWrong(t, { databases: [[], ['faketime', '-f', '+30s']] }),
);

async function oneClockIsWrong(t: ExecutionContext, clocks: Parameters<typeof startCluster>[1]): Promise<void> {
	const traces = await mkdtemp(path.join(os.tmpdir(), 'stowage-traces-'));
	t.teardown(() => rm(traces, { recursive: true, force: true }));
	const begun = performance.now();
	const cluster = await startCluster(t, { ...clocks, plugins: { [jobsPlugin]: { folder: traces } } });
	const [right, wrong] = cluster.nodes;
	await until('the node is out of the balancer', async () => {
		const { status, body } = await call(wrong, 'GET', 'ready?of=node');
		return status === 503 && JSON.parse(body.toString()).checks.clock === 'off';
	});
	t.log(`not ready ${((performance.now() - begun) / 1000).toFixed(0)} s after all was started`);
	t.is((await call(right, 'GET', 'ready?of=node')).status, 200);
	// Whoever asks it all the same gets what the other one says.
	await askCrosswise(t, cluster, rounds(50));
	await guessTogether(t, cluster, rounds(10));
	await jobsTakeEffectOnce(t, cluster, traces);
}

async function jobsTakeEffectOnce(t: ExecutionContext, { nodes }: Cluster, traces: string): Promise<void> {
	const cookie = await nodes[0].server.register('bob');
	const starts = nodes.map((node) => call(node, 'POST', 'testJobs/many/150', cookie));
	const ids = (await Promise.all(starts)).flatMap((answer) => jsonOf(answer) as string[]);
	t.is(new Set(ids).size, 300);
	const effects = async () => (await readdir(traces)).filter((name) => name.endsWith('.effect'));
	await until('all jobs took effect', async () => (await effects()).length === 300);
	await until('all jobs have ended', async () =>
		jsonOf(await call(nodes[0], 'GET', 'jobs', cookie)).every(
			({ endTime }: { endTime: number | null }) => endTime !== null,
		),
	);
	t.deepEqual((await effects()).sort(), ids.map((id) => `${id}.effect`).sort());
	t.deepEqual(
		(await readdir(traces)).filter((name) => name.endsWith('.staged')),
		[],
	);
}
