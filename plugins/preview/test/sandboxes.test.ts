import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findSandbox, isFailure, type Sandbox } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { ImageWorkers } from '../src/images/ImageWorkers.js';
import { runProgram } from '../src/runProgram.js';
import { rendering } from './rendering.js';

const memoryBytes = 2 ** 29;
const { signal } = new AbortController();
const sandboxes = {
	bubblewrap: () => findSandbox(),
	Landlock: () => findSandbox({ bwrap: false }),
} as const;
type SandboxName = keyof typeof sandboxes;

async function sandboxOf(t: ExecutionContext, name: SandboxName): Promise<Sandbox> {
	const sandbox = await sandboxes[name]();
	t.is(sandbox?.kind, name === 'Landlock' ? 'landlock' : 'bubblewrap');
	return sandbox as Sandbox;
}

/** A folder as a server has it, a port on which it listens, and a place for programs elsewhere. */
async function server(t: ExecutionContext) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-decoders-'));
	const programs = await mkdtemp(path.join(os.tmpdir(), 'stowage-programs-'));
	t.teardown(() => Promise.all([folder, programs].map((each) => rm(each, { recursive: true, force: true }))));
	await mkdir(path.join(folder, 'files/users/ada'), { recursive: true });
	for (const name of ['session.key', 'stowage.db', 'files/users/ada/private.jpg', 'source']) {
		await writeFile(path.join(folder, name), `content of ${name}`);
	}
	const listening = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
	await once(listening, 'listening');
	t.teardown(() => void listening.close());
	const { port } = listening.address() as { port: number };
	return { folder, programs, port };
}

/** Attempts in JavaScript, run by Node in the place of a decoder: the names of those that succeed. */
const attempts = (folder: string, port: number) => `
const fs = process.getBuiltinModule('node:fs');
const reached = [];
const attempt = (name, run) => { try { run(); reached.push(name); } catch {} };
for (const name of ['session.key', 'stowage.db', 'files/users/ada/private.jpg']) {
	attempt('read ' + name, () => fs.readFileSync('${folder}/' + name));
	attempt('write ' + name, () => fs.writeFileSync('${folder}/' + name, ''));
	attempt('chmod ' + name, () => fs.chmodSync('${folder}/' + name, 0o777));
	attempt('remove ' + name, () => fs.rmSync('${folder}/' + name));
}
attempt('list', () => fs.readdirSync('${folder}'));
attempt('passwd', () => fs.readFileSync('/etc/passwd'));
for (const name of ['environ', 'maps', 'mem', 'fd/0', 'root/etc/passwd']) {
	attempt('proc ' + name, () => fs.readFileSync('/proc/${process.pid}/' + name));
}
for (const place of ['${folder}', '/tmp', '/dev/shm', '/var/tmp', '/usr/bin', '/']) {
	attempt('make in ' + place, () => fs.writeFileSync(place + '/stowage-made', ''));
}
attempt('signal the server', () => process.kill(${process.pid}, 0));
async function connects() {
	try {
		const net = process.getBuiltinModule('node:net');
		await new Promise((resolve, reject) => net.connect(${port}, '127.0.0.1').once('connect', resolve).once('error', reject));
		reached.push('connect');
	} catch {}
}
`;

const holdsDecoder = test.macro(async (t, name: SandboxName) => {
	const sandbox = await sandboxOf(t, name);
	const { folder, port } = await server(t);
	const script = `${attempts(folder, port)}
	const lent = fs.readFileSync('/dev/fd/3', 'utf8');
	attempt('make the source longer', () => fs.appendFileSync('/proc/self/fd/3', 'more'));
	connects().then(() => process.stdout.write(JSON.stringify({ lent, reached })));`;
	const source = await open(path.join(folder, 'source'));
	t.teardown(() => source.close());
	const run = { memoryBytes, descriptor: source.fd, signal };
	const output = await runProgram(process.execPath, ['-e', script], { ...run, sandbox });
	t.deepEqual(JSON.parse(String(output)), { lent: 'content of source', reached: [] });
	const unsandboxed = JSON.parse(
		String(await runProgram(process.execPath, ['-e', script], { ...run, sandbox: undefined })),
	);
	t.true(['read session.key', 'signal the server', 'connect'].every((each) => unsandboxed.reached.includes(each)));
});

/** A program in the place of the one that decodes images, which answers with what it has reached. */
async function workersOf(t: ExecutionContext, sandbox: Sandbox | undefined) {
	const { folder, programs, port } = await server(t);
	const program = path.join(programs, 'images/child/program.mjs');
	await mkdir(path.dirname(program), { recursive: true });
	await writeFile(
		program,
		`${attempts(folder, port)}
		const header = (answer, length) => { const bytes = Buffer.alloc(5); bytes[0] = answer; bytes.writeUInt32LE(length, 1); return bytes; };
		const seen = [];
		process.stdout.write(header(0, 0));
		let input = Buffer.alloc(0);
		process.stdin.on('data', async (chunk) => {
			input = Buffer.concat([input, chunk]);
			if (input.length < 8 || input.length < 8 + input.readUInt32LE(4)) return;
			const end = 8 + input.readUInt32LE(4);
			seen.push(String(input.subarray(8, end)));
			input = input.subarray(end);
			await connects();
			const answer = Buffer.from(JSON.stringify({ seen, reached }));
			process.stdout.write(Buffer.concat([header(1, answer.length), answer]));
		});`,
	);
	const log = { info() {}, warn() {}, error: (_details: object, message: string) => t.fail(message) };
	const workers = new ImageWorkers({ memoryBytes, log, program, findSandbox: async () => sandbox });
	t.teardown(() => workers.close());
	return async (owner: string, content: string): Promise<{ seen: string[]; reached: string[] }> => {
		async function* read() {
			yield Buffer.from(content);
		}
		return JSON.parse(String(await workers.render({ owner, length: content.length, read }, 256, signal)));
	};
}

const holdsWorker = test.macro(async (t, name: SandboxName) => {
	const render = await workersOf(t, await sandboxOf(t, name));
	t.deepEqual(await render('ada', 'hostile'), { seen: ['hostile'], reached: [] });
});

const makesPictures = test.macro(async (t, name: SandboxName) => {
	const sandbox = await sandboxOf(t, name);
	const made = await rendering(t, { findSandbox: async () => sandbox });
	await made.ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=320x240:d=3', '-pix_fmt', 'yuv420p', 'a.mp4');
	t.true((await made.render('a.mp4')).length > 0);
	t.deepEqual(made.lines, []);
});

for (const name of Object.keys(sandboxes) as SandboxName[]) {
	test(`a program in the place of ffmpeg reaches nothing but its source in a sandbox of ${name}`, holdsDecoder, name);
	test(`a program in the place of the image decoder reaches nothing in a sandbox of ${name}`, holdsWorker, name);
	test(`ffmpeg and the image decoder make pictures in a sandbox of ${name}`, makesPictures, name);
}

test('a child that decodes images gets those of one owner only', async (t) => {
	const render = await workersOf(t, undefined);
	t.deepEqual((await render('ada', 'one')).seen, ['one']);
	t.deepEqual((await render('ada', 'two')).seen, ['one', 'two']);
	t.deepEqual((await render('eve', 'hers')).seen, ['hers']);
	t.deepEqual((await render('bob', 'his')).seen, ['his']);
	t.deepEqual((await render('ada', 'three')).seen, ['three'], 'the children of others were kept, hers was ended');
});

test('a decoder that was not started or was ended from outside says nothing about a file, and one that crashed does', async (t) => {
	const { folder, programs } = await server(t);
	const source = await open(path.join(folder, 'source'));
	t.teardown(() => source.close());
	const script = async (name: string, text: string) => {
		const program = path.join(programs, name);
		await writeFile(program, `#!/bin/sh\n${text}\n`);
		await chmod(program, 0o755);
		return program;
	};
	const ends = {
		'exit 1': 'refused',
		'kill -SEGV $$': 'refused',
		'kill -ABRT $$': 'refused',
		'kill -XCPU $$': 'refused',
		'kill -KILL $$': 'unavailable',
		'kill -TERM $$': 'unavailable',
		'echo "pthread_create: Resource temporarily unavailable" >&2; exit 1': 'unavailable',
		'echo "terminate called: Resource temporarily unavailable" >&2; kill -ABRT $$': 'unavailable',
	};
	for (const [sandboxName, sandbox] of [
		['none', undefined] as const,
		['Landlock', await findSandbox({ bwrap: false })] as const,
	]) {
		for (const [text, outcome] of Object.entries(ends)) {
			const program = await script('decoder', text);
			const run = runProgram(program, [], { memoryBytes, descriptor: source.fd, signal, sandbox });
			if (outcome === 'refused') t.is(await run, undefined, `${sandboxName}: ${text}`);
			else t.true(isFailure(await t.throwsAsync(run), 'unavailable'), `${sandboxName}: ${text}`);
		}
		if (sandbox !== undefined) {
			// The part that confines the decoder has no memory or threads to begin.
			const program = await script('decoder', 'echo picture');
			for (const limited of [
				`ulimit -v 400000; exec "$@"`,
				`printf '\\n  #  /usr/bin/node[12]: Start() at ../src/node_platform.cc:68\\n' >&2; kill -ABRT $$`,
			]) {
				const wrap: Sandbox['wrap'] = (...all) => {
					const { command, args } = sandbox.wrap(...all);
					return { command: '/bin/sh', args: ['-c', limited, 'sh', command, ...args] };
				};
				const run = runProgram(program, [], {
					memoryBytes,
					descriptor: source.fd,
					signal,
					sandbox: { ...sandbox, wrap },
				});
				t.true(isFailure(await t.throwsAsync(run), 'unavailable'), limited);
			}
		}
		// While an upgrade exchanges the files of this program, its own parts of a sandbox are gone for a moment.
		const wrap: Sandbox['wrap'] = (file, args) => ({
			command: process.execPath,
			args: [path.join(folder, 'launch.js'), file, ...args],
		});
		const exchanged: Sandbox = { kind: 'bubblewrap', description: '', wrap };
		const withoutLauncher = { memoryBytes, descriptor: source.fd, signal, sandbox: exchanged };
		const error = await t.throwsAsync(runProgram('/bin/echo', ['done'], withoutLauncher), undefined, 'exchanged');
		t.true(isFailure(error, 'unavailable'), String(error));
		const gone = runProgram('/nonexistent/ffmpeg', [], { memoryBytes, descriptor: source.fd, signal, sandbox });
		t.true(isFailure(await t.throwsAsync(gone), 'unavailable'), `${sandboxName}: gone`);
	}
});

test('an image decoder that ends before it is ready says nothing about an image, and one that crashes at it does', async (t) => {
	const { programs } = await server(t);
	const log = { info() {}, warn() {}, error() {} };
	const ready = 'process.stdout.write(Buffer.from([0, 0, 0, 0, 0]));';
	const killed = `process.kill(process.pid, 'SIGKILL');`;
	const cases = {
		'process.abort();': 'unavailable',
		[killed]: 'unavailable',
		[`${ready} process.stdin.once('data', () => process.abort());`]: 'unsupportedMediaType',
		[`${ready} process.stdin.once('data', () => { ${killed} });`]: 'unavailable',
	} as const;
	async function* read() {
		yield Buffer.alloc(1_000_000);
	}
	for (const [text, kind] of Object.entries(cases)) {
		const program = path.join(programs, 'images/child/ending.mjs');
		await mkdir(path.dirname(program), { recursive: true });
		await writeFile(program, text);
		const workers = new ImageWorkers({ memoryBytes, log, program, findSandbox: async () => undefined });
		const error = await t.throwsAsync(workers.render({ owner: 'ada', length: 1_000_000, read }, 256, signal));
		t.true(isFailure(error, kind), `${text}: ${error}`);
		workers.close();
	}
});

/** A PNG of one pixel. */
const pixel = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);

test('an image decoder that lacks threads or descriptors, or is ended as its threads begin, says nothing about an image', async (t) => {
	const { programs } = await server(t);
	const log = { info() {}, warn() {}, error: (_details: object, message: string) => t.fail(message) };
	await cp(fileURLToPath(new URL('../src/images', import.meta.url)), path.join(programs, 'images'), {
		recursive: true,
	});
	await writeFile(path.join(programs, 'package.json'), '{"type":"module"}');
	const library = path.join(programs, 'node_modules/sharp');
	await mkdir(library, { recursive: true });
	await writeFile(path.join(library, 'package.json'), '{"main":"index.cjs"}');
	// Its first picture is made before the child is ready, the second is that of an image.
	const make = (first: string, second: string) =>
		writeFile(
			path.join(library, 'index.cjs'),
			`const attempts = [() => { ${first} }, () => { ${second} }];
			const image = { metadata: async () => ({}), toBuffer: async () => { attempts.shift()?.(); return Buffer.from('P'); } };
			for (const name of ['autoOrient', 'resize', 'webp']) image[name] = () => image;
			module.exports = Object.assign(() => image, { block() {}, unblock() {}, cache() {}, concurrency() {} });`,
		);
	const program = path.join(programs, 'images/child/imageProgram.js');
	const workers = new ImageWorkers({ memoryBytes, log, program, findSandbox: async () => undefined });
	t.teardown(() => workers.close());
	async function* read() {
		yield pixel;
	}
	const render = () => workers.render({ owner: 'ada', length: pixel.length, read }, 256, signal);
	const noThread = `throw new Error('glib: Error creating thread: Resource temporarily unavailable');`;
	const says = `process.stderr.write('GLib-ERROR: creating thread: Resource temporarily unavailable');`;
	const crash = `process.kill(process.pid, 'SIGSEGV'); for (;;);`;
	for (const [first, second, kind] of [
		[noThread, '', 'unavailable'],
		[crash, '', 'unavailable'],
		['', noThread, 'unavailable'],
		['', says + crash, 'unavailable'],
		['', crash, 'unsupportedMediaType'],
	] as const) {
		await make(first, second);
		const error = await t.throwsAsync(render());
		t.true(isFailure(error, kind), `${first} ${second}: ${error}`);
		workers.close();
	}
	await make('', '');
	t.is(String(await render()), 'P');
});

test('an image decoder that does not get ready says nothing about an image', async (t) => {
	const { programs } = await server(t);
	const log = { info() {}, warn() {}, error: (_details: object, message: string) => t.fail(message) };
	const program = path.join(programs, 'stuck.mjs');
	await writeFile(program, 'process.stdin.resume(); setInterval(() => {}, 1e6);');
	const workers = new ImageWorkers({ memoryBytes, log, program, startMs: 100, findSandbox: async () => undefined });
	t.teardown(() => workers.close());
	async function* read() {
		yield pixel;
	}
	const image = { owner: 'ada', length: pixel.length, read };
	const error = await t.throwsAsync(workers.render(image, 256, AbortSignal.timeout(5_000)));
	t.true(isFailure(error, 'unavailable'), String(error));
});

/** A signal that fires as that of a picture whose time is over. */
const timeOver = (ms: number) => {
	const over = new AbortController();
	setTimeout(() => over.abort(new Error('It took too long.')), ms);
	return over.signal;
};

test('a decoder that had not begun when the time was over says nothing about a file, and one that had does', async (t) => {
	const { folder, programs } = await server(t);
	const source = await open(path.join(folder, 'source'));
	t.teardown(() => source.close());
	const decoder = path.join(programs, 'decoder');
	await writeFile(decoder, '#!/bin/sh\nexec sleep 600\n');
	await chmod(decoder, 0o755);
	for (const name of Object.keys(sandboxes) as SandboxName[]) {
		const sandbox = await sandboxOf(t, name);
		const run = { memoryBytes, descriptor: source.fd };
		// What it is started by is held up at its beginning.
		const wrap: Sandbox['wrap'] = (...all) => {
			const wrapped = sandbox.wrap(...all);
			const args = ['-c', 'sleep 600; exec "$@"', 'sh', wrapped.command, ...wrapped.args];
			return { ...wrapped, command: '/bin/sh', args };
		};
		const heldUp = runProgram(decoder, [], { ...run, signal: timeOver(500), sandbox: { ...sandbox, wrap } });
		t.true(isFailure(await t.throwsAsync(heldUp), 'unavailable'), name);
		const begun = runProgram(decoder, [], { ...run, signal: timeOver(8000), sandbox });
		t.is((await t.throwsAsync(begun))?.message, 'It took too long.', name);
		const before = runProgram(decoder, [], { ...run, signal: AbortSignal.abort(), sandbox });
		t.true(isFailure(await t.throwsAsync(before), 'unavailable'), name);
	}
	// Nothing is between it and the system.
	const alone = { memoryBytes, descriptor: source.fd, signal: timeOver(500), sandbox: undefined };
	t.is((await t.throwsAsync(runProgram(decoder, [], alone)))?.message, 'It took too long.');
});

test('a picture is not late where the sandbox was not found, or the image decoder not ready, when its time was over', async (t) => {
	const { programs } = await server(t);
	const never = () => new Promise<Sandbox>(() => {});
	const stuck = path.join(programs, 'stuck.mjs');
	await writeFile(stuck, 'process.stdin.resume(); setInterval(() => {}, 1e6);');
	for (const options of [{ findSandbox: never }, { program: stuck, findSandbox: async () => undefined }]) {
		const made = await rendering(t, options);
		await made.write('a.png', pixel);
		const late = await t.throwsAsync(made.render('a.png', 256, timeOver(1000)));
		t.true(isFailure(late, 'unavailable'), String(late));
	}
	const made = await rendering(t, { findSandbox: never });
	await made.write('a.mp4', Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0mp42isom', 'latin1'));
	await made.write('a.pdf', '%PDF-1.4\n');
	for (const name of ['a.mp4', 'a.pdf']) {
		const late = await t.throwsAsync(made.render(name, 256, timeOver(500)));
		t.true(isFailure(late, 'unavailable'), `${name}: ${late}`);
	}
	// One that has got its image is.
	const draws = path.join(programs, 'draws.mjs');
	await writeFile(draws, 'process.stdout.write(Buffer.alloc(5)); process.stdin.resume(); setInterval(() => {}, 1e6);');
	const begun = await rendering(t, { program: draws, findSandbox: async () => undefined });
	await begun.write('a.png', pixel);
	t.is((await t.throwsAsync(begun.render('a.png', 256, timeOver(3000))))?.message, 'It took too long.');
});

test('without free descriptors a picture is unavailable, and is made once there are some', async (t) => {
	const program = fileURLToPath(new URL('withoutDescriptors.js', import.meta.url));
	const { stdout } = await promisify(execFile)('/bin/sh', [
		'-c',
		'ulimit -n 512; exec "$0" "$1"',
		process.execPath,
		program,
	]);
	t.deepEqual(JSON.parse(stdout), { program: 'unavailable', image: 'unavailable', later: 'done' });
});
