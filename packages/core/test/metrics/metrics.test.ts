import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { ConfigError, loadConfig } from '../../src/index.js';
import { Exposition, expositionText, sumFamilies } from '../../src/metrics/exposition.js';
import { logLines } from '../logLines.js';
import { memoryStorageFlags } from '../memoryPlugin.js';
import { Client, file, json, testApp } from '../testApp.js';
import { until } from '../until.js';

interface Family {
	type: string;
	samples: { name: string; labels: Record<string, string>; value: number }[];
}

/** Parses the text format 0.0.4 strictly by its specification, and throws on anything else. */
function parseExposition(exposition: string): Map<string, Family> {
	if (!exposition.endsWith('\n')) throw new Error('The last line has no line feed.');
	const families = new Map<string, Family>();
	let current: { name: string; family: Family } | undefined;
	let helped = '';
	for (const line of exposition.slice(0, -1).split('\n')) {
		const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)*)$/.exec(line);
		if (help !== null) {
			if (families.has(help[1] as string)) throw new Error(`Duplicate: ${line}`);
			helped = help[1] as string;
			continue;
		}
		const type = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line);
		if (type !== null) {
			if (type[1] !== helped) throw new Error(`TYPE without its HELP: ${line}`);
			current = { name: helped, family: { type: type[2] as string, samples: [] } };
			families.set(helped, current.family);
			continue;
		}
		const sample =
			/^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*)\})? (NaN|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(
				line,
			);
		if (sample === null || current === undefined) throw new Error(`Not a line of the format: ${line}`);
		const [, name = '', labelText = '', value = ''] = sample;
		const suffix = name.slice(current.name.length);
		const suffixes = current.family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
		if (!name.startsWith(current.name) || !suffixes.includes(suffix))
			throw new Error(`Sample of another family: ${line}`);
		const labels: Record<string, string> = {};
		for (const [, label = '', text = ''] of labelText.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)) {
			if (label in labels) throw new Error(`Duplicate label: ${line}`);
			labels[label] = text.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter));
		}
		const key = (each: { name: string; labels: object }) =>
			JSON.stringify([each.name, Object.entries(each.labels).sort()]);
		if (current.family.samples.some((each) => key(each) === key({ name, labels })))
			throw new Error(`Duplicate: ${line}`);
		const number = value.endsWith('Inf') ? Number(value.replace('Inf', 'Infinity')) : Number(value);
		current.family.samples.push({ name, labels, value: number });
	}
	for (const [name, { type, samples }] of families) if (type === 'histogram') checkHistogram(name, samples);
	return families;
}

function checkHistogram(name: string, samples: Family['samples']): void {
	const rests = new Map<string, { last: number; count: number | undefined }>();
	for (const { name: each, labels, value } of samples) {
		const { le, ...others } = labels;
		const key = JSON.stringify(others);
		const rest = rests.get(key) ?? { last: 0, count: undefined };
		if (each === `${name}_bucket`) {
			if (value < rest.last) throw new Error(`The buckets of ${name} do not add up.`);
			rest.last = value;
			if (le === '+Inf') rest.count = value;
		}
		if (each === `${name}_count` && value !== rest.count) throw new Error(`The count of ${name} is not its +Inf.`);
		rests.set(key, rest);
	}
}

async function read(url: string, method = 'GET') {
	const sent = request(url, { method, agent: false });
	sent.end();
	const [answer] = await once(sent, 'response');
	return { status: answer.statusCode, type: answer.headers['content-type'], body: await text(answer) };
}

/** A server that serves metrics, and their URL. */
async function metricsApp(t: Parameters<typeof testApp>[0], flags: Record<string, string> = {}) {
	const { log, lines } = logLines();
	const app = await testApp(t, { '--metrics-listen': '127.0.0.1:0', ...flags }, { log });
	const { address } = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'metrics are served');
	const metrics = async () => {
		const { status, type, body } = await read(address);
		if (status !== 200 || type !== 'text/plain; version=0.0.4; charset=utf-8') throw new Error(`${status} ${type}`);
		const families = parseExposition(body);
		const samples = [...families.values()].flatMap((family) => family.samples);
		const value = (name: string, labels: Record<string, string> = {}) =>
			samples.find(
				(each) => each.name === name && Object.entries(labels).every(([label, word]) => each.labels[label] === word),
			)?.value;
		return { families, body, value };
	};
	/** Polls until all these are served: those of disks and the database are left out while they are slow, as on a busy machine. */
	const metricsWith = async (...names: string[]) => {
		let current = await metrics();
		const hasAll = () => names.every((name) => current.families.has(name));
		await until(`${names.join(', ')} are served`, async () => {
			if (!hasAll()) current = await metrics();
			return hasAll();
		});
		return current;
	};
	return { app, address, metrics, metricsWith };
}

test('metrics count requests and transfers by routes, statuses and kinds, and contain no names, tokens or addresses', async (t) => {
	const { app, metricsWith } = await metricsApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('very-private.txt', 'A'.repeat(100_000))]);
	t.is((await ada.get('/api/download/very-private.txt?type=private')).statusCode, 200);
	t.is((await ada.get('/api/download/no-such.txt?type=private')).statusCode, 404);
	t.is((await ada.get('/what/ever')).statusCode, 404);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'very-private.txt', expiration: '1d' }));
	await ada.get(`/api/temp/${token}`);
	await ada.call('BREW', '/api/browse').catch(() => undefined);

	const { value, body } = await metricsWith(
		'stowage_database_ping_seconds',
		'stowage_event_loop_delay_seconds',
		'stowage_queue_waiting',
		'stowage_thumbnails_total',
		'stowage_jobs',
		'stowage_root_free_bytes',
	);
	t.is(value('stowage_requests_total', { route: 'get /api/download/{path*}', status: '200' }), 1);
	t.is(value('stowage_requests_total', { route: 'get /api/download/{path*}', status: '404' }), 1);
	t.is(value('stowage_requests_total', { route: 'none', status: '404' }), 1);
	t.is(value('stowage_refusals_total', { code: 'NOT_FOUND' }), 2);
	t.is(value('stowage_request_duration_seconds_count', { route: 'post /api/upload' }), 1);
	t.true((value('stowage_received_bytes_total') ?? 0) > 100_000);
	t.true((value('stowage_sent_bytes_total') ?? 0) > 200_000);
	t.is(value('stowage_transfers', { kind: 'download' }), 0);
	t.is(value('stowage_root_up'), 1);
	t.true((value('stowage_root_free_bytes') ?? 0) > 0);
	t.true((value('process_resident_memory_bytes') ?? 0) > 0);
	t.true((value('process_open_fds') ?? 0) > 3);
	for (const secret of ['ada', 'very-private', token, '127.0.0.1', '/what']) t.false(body.includes(secret), secret);
});

test('the space of a root is left out if its storage does not report it', async (t) => {
	const { metricsWith } = await metricsApp(t, await memoryStorageFlags(t));
	const { value } = await metricsWith('stowage_root_up');
	t.is(value('stowage_root_up'), 1);
	t.is(value('stowage_root_free_bytes'), undefined);
	t.is(value('stowage_root_size_bytes'), undefined);
});

test('a root whose disk hangs is down in the metrics, and the others are not', async (t) => {
	const { app, metricsWith } = await metricsApp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	await app.services.rootAdministration.add('big', 'local', path.join(disk, 'root'));
	const { storage } = await app.services.roots.named('big');
	storage.check = () => new Promise<never>(() => {});
	const { value } = await metricsWith('stowage_root_up');
	t.is(value('stowage_root_up', { root: 'local' }), 1);
	t.is(value('stowage_root_up', { root: 'big' }), 0);
	t.is(value('stowage_root_free_bytes', { root: 'big' }), undefined);
});

test('an upload under way is counted as a transfer until it ends, also by a lost connection', async (t) => {
	const { app, metrics } = await metricsApp(t);
	const ada = await new Client(app).register('ada');
	const { hostname, port } = new URL(app.server.info.uri);
	const uploading = request({
		...{ hostname, port, path: '/api/upload', method: 'POST', agent: false },
		headers: { cookie: ada.cookie, 'content-type': 'multipart/form-data; boundary=b', 'content-length': 1000 },
	});
	uploading.on('error', () => {});
	uploading.write('--b\r\n');
	const reaches = async (count: number) => {
		for (;;) if ((await metrics()).value('stowage_transfers', { kind: 'upload' }) === count) return;
	};
	await reaches(1);
	uploading.destroy();
	await reaches(0);
	t.is((await metrics()).value('stowage_requests_total', { route: 'post /api/upload', status: '499' }), 1);
});

test('only GET /metrics is served, by a listener of its own and only if one is configured', async (t) => {
	const { app, address } = await metricsApp(t);
	t.is((await read(address, 'POST')).status, 405);
	t.is((await read(address.replace('/metrics', '/'))).status, 404);
	t.is((await read(address.replace('/metrics', '/api/browse'))).status, 404);
	t.is((await new Client(app).get('/metrics')).statusCode, 404);
	const { lines, log } = logLines();
	await testApp(t, {}, { log });
	t.false(
		lines.some((line) => line.includes('metrics are served')),
		'off by default',
	);
});

test('an unavailable database is left out of the metrics, and an unexpected error of it is answered 500', async (t) => {
	const { app, address, metricsWith } = await metricsApp(t);
	let pings = 0;
	app.services.database.ping = async () => {
		pings++;
		throw new Error('a fault');
	};
	t.is((await read(address)).status, 500);
	app.services.database.ping = async () => {
		pings++;
		throw new Failure('unavailable', 'The database is away.');
	};
	await until('the fault is not the latest answer any more', async () => (await read(address)).status === 200);
	const { families } = await metricsWith('stowage_root_up');
	t.false(families.has('stowage_database_ping_seconds'));
	t.true(pings >= 2);
});

for (const [listen, sentence] of [
	['127.0.0.1:7420', /another port than 7420/],
	['7420', /must be empty or an address/],
	['localhost:1', /must be empty or an address/],
	['127.0.0.1:99999', /must be empty or an address/],
	['[127.0.0.1]:1', /must be empty or an address/],
] as const) {
	test(`metrics.listen may not be ${listen}`, (t) => {
		const error = t.throws(() => loadConfig({ flags: { '--metrics-listen': listen } }), { instanceOf: ConfigError });
		t.regex(error?.message ?? '', sentence);
	});
}

test('special characters in labels, extreme numbers and histograms are written so that a strict parser reads them', (t) => {
	const exposition = new Exposition();
	const counter = exposition.counter('a_total', 'With a \\ and\na line.');
	counter.of({ name: 'quote " backslash \\ line \n end' }).add();
	counter.of({ name: 'b' }).add(0.1);
	const durations = exposition.histogram('b_seconds', 'Times.', [0.1, 1]);
	for (const value of [0.1, 0.5, 2]) durations.of({ route: 'x' }).observe(value);
	const samples = [Number.NaN, Number.POSITIVE_INFINITY, 1e300, 5e-324].map(
		(value, n) => [{ n: String(n) }, value] as const,
	);
	const families = parseExposition(
		expositionText(exposition.families([{ name: 'c', type: 'gauge', help: '', samples }])),
	);
	t.is(families.get('a_total')?.samples[0]?.labels.name, 'quote " backslash \\ line \n end');
	t.deepEqual(
		families.get('b_seconds')?.samples.map(({ value }) => value),
		[1, 2, 3, 2.6, 3],
	);
	t.is(families.get('c')?.samples[1]?.value, Number.POSITIVE_INFINITY);
});

test('the metrics of several processes are one: counts are summed, also those of processes that have ended, and measurements are told apart', (t) => {
	const ofProcess = (requests: number, seconds: readonly number[]) => {
		const exposition = new Exposition();
		exposition.counter('a_total', 'Requests.').of({ route: 'x' }).add(requests);
		const durations = exposition.histogram('b_seconds', 'Times.', [1]).of({});
		for (const value of seconds) durations.observe(value);
		return exposition.families([{ name: 'c', type: 'gauge', help: 'Open.', samples: [[{ kind: 'k' }, requests]] }]);
	};
	const former = sumFamilies(new Map(), ofProcess(100, [0.5]));
	const summed = sumFamilies(
		new Map([
			['1', ofProcess(1, [0.5, 2])],
			['7', ofProcess(2, [3])],
		]),
		former,
	);
	const families = parseExposition(expositionText(summed));
	t.deepEqual(families.get('a_total')?.samples, [{ name: 'a_total', labels: { route: 'x' }, value: 103 }]);
	t.deepEqual(
		families.get('b_seconds')?.samples.map(({ value }) => value),
		[2, 4, 6, 4],
	);
	t.deepEqual(
		families.get('c')?.samples.map(({ labels, value }) => [labels, value]),
		[
			[{ kind: 'k', worker: '1' }, 1],
			[{ kind: 'k', worker: '7' }, 2],
		],
	);
});
