import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { stowage } from './program.js';

/** Some user that no machine has. */
const uid = 47_440;
const gid = 47_441;

/** Runs what root pastes into a shell, where there need be no sudo. */
function paste(commands: readonly (string | undefined)[]): Promise<unknown> {
	return promisify(execFile)('bash', ['-ec', commands.join('\n')]);
}

interface FileFinding {
	state: string;
	what: string;
	message: string;
	remedy?: string;
	path?: string;
	bytes?: string;
}

test('doctor --files names what an import of root left unusable, and its commands mend it', async (t) => {
	t.is(process.geteuid?.(), 0, 'this test runs as root');
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-imported-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await chmod(folder, 0o755);
	const data = path.join(folder, 'data');
	await mkdir(data, { mode: 0o750 });
	await chown(data, uid, gid);
	const flags = ['--data-dir', data, '--log-level', 'error'];
	for (const name of ['ada', 'bob'])
		t.like(await stowage(['user', 'add', name, ...flags], { input: 'correct horse\n' }), { code: 0 });
	t.like(await stowage(['doctor', '--files', ...flags]), { code: 0 });

	const home = path.join(data, 'files/users/ada');
	const at = (name: string) => path.join(home, name);
	const raw = (name: string) => Buffer.concat([Buffer.from(`${home}/`), Buffer.from(name, 'latin1')]);
	await writeFile(at("Ada's photo.jpg"), 'x', { mode: 0o600 });
	await writeFile(at('unopened'), 'x', { mode: 0 });
	await mkdir(at('closed'), { mode: 0o700 });
	await mkdir(at('unwritable'), { mode: 0o755 });
	await writeFile(at('own'), 'x');
	await chown(at('own'), uid, gid);
	await chmod(at('own'), 0);
	await writeFile(raw("caf\xe9 d'\x1b[31m.txt"), 'x', { mode: 0o644 });
	await writeFile(at('two\nlines'), 'x', { mode: 0o644 });
	await symlink('/etc', at('link'));
	await writeFile(path.join(data, 'files/users/bob/of root'), 'x', { mode: 0o600 });

	const { code, stdout } = await stowage(['doctor', '--files', '--user', 'ada', '--json', ...flags]);
	t.is(code, 1);
	const found = (JSON.parse(stdout) as FileFinding[]).filter(({ state }) => state !== 'ok');
	const remedies = Object.fromEntries(
		found.map(({ path: place = '', remedy }) => [place.slice(home.length + 1), remedy]),
	);
	const own = `setpriv --reuid=${uid} --regid=${gid} --groups=${gid}`;
	const giving = (item: string) => `(cd ${home} && [ "$(/bin/pwd -P)" = ${home} ] && chown -h ${uid}:${gid} ${item})`;
	t.deepEqual(remedies, {
		"Ada's photo.jpg": giving("'./Ada'\\''s photo.jpg'"),
		closed: giving('./closed'),
		unwritable: giving('./unwritable'),
		unopened: giving(`./unopened && ${own} chmod u+rw ./unopened`),
		own: `${own} chmod u+rw ${home}/own`,
		"caf\ufffd d'\u001b[31m.txt": `${own} mv -nT $'${home}/caf\\xe9 d\\'\\x1b[31m.txt' '${home}/café d'\\''_[31m.txt'`,
		'two\nlines': `${own} mv -nT $'${home}/two\\x0alines' ${home}/two_lines`,
		link: 'Put what it leads to in its place, or mount that there: mount --bind. Links are never followed.',
	});
	const exact = found.find(({ bytes }) => bytes !== undefined);
	t.deepEqual(Buffer.from(exact?.bytes ?? '', 'base64'), raw("caf\xe9 d'\x1b[31m.txt"));

	const text = await stowage(['doctor', '--files', ...flags]);
	t.is(text.code, 1);
	// A line each, and nothing that moves the cursor.
	t.is(text.stdout.split('\n').length, found.length + 2);
	t.false(text.stdout.includes('\u001b'));
	t.regex(text.stdout, /^warn\tunreadable\t.*bob\/of root: .*\(user 0, mode 600\)\t\(cd .* && chown -h /m);

	const commands = found.flatMap(({ what, remedy }) => (what === 'link' ? [] : [remedy]));
	await paste(commands);
	await rm(at('link'));
	await rm(path.join(data, 'files/users/bob/of root'));
	t.like(await stowage(['doctor', '--files', ...flags]), { code: 0 });
	t.true((await readdir(home)).includes("café d'_[31m.txt"));
	t.is((await stat(at('closed'))).uid, uid);

	t.like(await stowage(['doctor', '--files', '--user', 'nobody', ...flags]), { code: 1 });
	t.like(await stowage(['doctor', '--files', '--root', 'nowhere', ...flags]), { code: 1 });
});

test('who exchanges a folder for a link, once its remedy was printed, has root give nothing else away by it', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-exchanged-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await chmod(folder, 0o755);
	const data = path.join(folder, 'data');
	await mkdir(data, { mode: 0o750 });
	await chown(data, uid, gid);
	const flags = ['--data-dir', data, '--log-level', 'error'];
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: 'correct horse\n' }), { code: 0 });
	const rootsOwn = path.join(folder, 'of-root');
	const home = path.join(data, 'files/users/ada');
	for (const place of [rootsOwn, path.join(home, 'd')]) {
		await mkdir(place);
		for (const [name, mode] of [
			['shadow', 0o600],
			['closed', 0],
			['two\nlines', 0o600],
		] as const)
			await writeFile(path.join(place, name), 'of root', { mode });
	}
	await writeFile(path.join(home, 'd/own'), '', { mode: 0 });
	await writeFile(path.join(rootsOwn, 'own'), '', { mode: 0 });
	for (const name of ['d', 'd/own']) await chown(path.join(home, name), uid, gid);
	const { stdout } = await stowage(['doctor', '--files', '--json', ...flags]);
	const commands = (JSON.parse(stdout) as FileFinding[]).flatMap(({ remedy }) => remedy ?? []);
	t.is(commands.length, 5, stdout);

	await rename(path.join(home, 'd'), path.join(home, 'former'));
	await symlink(rootsOwn, path.join(home, 'd'));
	for (const command of commands) await t.throwsAsync(paste([command]), undefined, command);
	t.deepEqual((await readdir(rootsOwn)).sort(), ['closed', 'own', 'shadow', 'two\nlines']);
	for (const name of await readdir(rootsOwn)) {
		const { uid: owner, mode } = await stat(path.join(rootsOwn, name));
		t.deepEqual([owner, mode & 0o777], [0, /own|closed/.test(name) ? 0 : 0o600], name);
	}
	// A root that is a link itself is named by what it leads to, so that root sees whose files these are.
	await rename(path.join(data, 'files'), path.join(folder, 'elsewhere'));
	await symlink(path.join(folder, 'elsewhere'), path.join(data, 'files'));
	const led = await stowage(['doctor', '--files', '--json', ...flags]);
	const places = (JSON.parse(led.stdout) as FileFinding[]).flatMap(({ path: place }) => place ?? []);
	t.true(places.length > 0 && places.every((place) => place.startsWith(path.join(folder, 'elsewhere/'))), led.stdout);
});

test('of many of a kind 50 are named and the others counted, unless all are wanted', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-imported-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const flags = ['--data-dir', folder, '--log-level', 'error'];
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: 'correct horse\n' }), { code: 0 });
	for (let index = 0; index < 53; index++) await symlink('/etc', path.join(folder, 'files/users/ada', `link ${index}`));
	const some = await stowage(['doctor', '--files', ...flags]);
	t.is(some.stdout.split('\n').filter((line) => line.includes('a symbolic link')).length, 50);
	t.regex(some.stdout, /^warn\tlink\tand 3 more\tstowage doctor --files --all/m);
	const all = await stowage(['doctor', '--files', '--all', ...flags]);
	t.is(all.stdout.split('\n').filter((line) => line.includes('a symbolic link')).length, 53);
});
