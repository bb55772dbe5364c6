import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { serveArgs, startServer } from './serverProcess.js';

/** A plugin with an uncaught error of each kind. */
const faultyPlugin = `
import { createReadStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

let isBroken = false;
const throwNow = () => { throw new Error('a mistake'); };
const faults = {
	timer: () => { setTimeout(throwNow, 1); return new Promise(() => {}); },
	tick: () => { process.nextTick(throwNow); return new Promise(() => {}); },
	rejection: () => { wait(1).then(throwNow); return new Promise(() => {}); },
	stream: () => { createReadStream('/no/such/file'); return new Promise(() => {}); },
	body: ({ raw }) => { raw.req.on('data', throwNow); return new Promise(() => {}); },
	socket: ({ raw }) => { raw.req.socket.once('drain', throwNow); raw.res.write(Buffer.alloc(1 << 26)); return new Promise(() => {}); },
	late: () => { wait(50).then(throwNow); return 'answered'; },
	outside: () => { isBroken = true; return 'answered'; },
	memory: () => { wait(1).then(() => { throw new RangeError('Array buffer allocation failed'); }); return 'answered'; },
};
export const plugin = {
	name: 'faulty',
	version: '1.0.0',
	needs: [],
	options: { safeParse: (data) => ({ success: true, data }) },
	start(server) {
		setInterval(() => { if (isBroken) throwNow(); }, 20).unref();
		server.route({
			method: 'POST',
			path: '/api/fault/{kind}',
			options: { auth: false, payload: { output: 'stream', parse: false } },
			handler: (request) => faults[request.params.kind](request),
		});
	},
};
`;

async function faultyServer(t: Parameters<typeof startServer>[0]) {
	const site = await mkdtemp(path.join(os.tmpdir(), 'stowage-faulty-'));
	t.teardown(() => rm(site, { recursive: true, force: true }));
	await mkdir(path.join(site, 'node_modules/faulty'), { recursive: true });
	await writeFile(path.join(site, 'node_modules/faulty/package.json'), '{"name": "faulty", "exports": "./index.mjs"}');
	await writeFile(path.join(site, 'node_modules/faulty/index.mjs'), faultyPlugin);
	await writeFile(path.join(site, 'stowage.yaml'), 'plugins:\n  faulty: {}\n');
	const [program = '', ...rest] = serveArgs(path.join(site, 'data'), '--config', path.join(site, 'stowage.yaml'));
	return startServer(t, { args: [path.resolve(program), ...rest] });
}

const call = (url: string, kind: string) =>
	fetch(`${url}/api/fault/${kind}`, { method: 'POST', body: 'a body' })
		.then((answer) => answer.text())
		.catch(() => 'cut off');

test('an unexpected error of one request ends that request and nothing else', async (t) => {
	const { url } = await faultyServer(t);
	const events = await fetch(`${url}/api/events?type=public&directory=`);
	for (const kind of ['timer', 'tick', 'rejection', 'stream', 'body', 'socket']) {
		t.is(await call(url, kind), 'cut off', kind);
	}
	t.is(await call(url, 'late'), 'answered');
	for (let n = 0; n < 10; n++) t.is((await fetch(`${url}/api/health`)).status, 200);
	const reader = events.body?.getReader();
	t.false((await reader?.read())?.done, 'another request continues');
	await reader?.cancel();
});

for (const kind of ['outside', 'memory']) {
	test(`the process exits after an unexpected error outside a request: ${kind}`, async (t) => {
		const { url, ended } = await faultyServer(t);
		t.is(await call(url, kind), 'answered');
		t.is(await ended, 70);
	});
}
