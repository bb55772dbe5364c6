import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, lchownSync, renameSync, symlinkSync } from 'node:fs';
import {
	appendFile,
	chmod,
	chown,
	cp,
	lchown,
	link,
	lstat,
	mkdir,
	mkdtemp,
	open,
	readdir,
	readFile,
	readlink,
	rename,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { walkPath } from '@stowage/core';
import test, { type ExecutionContext } from 'ava';
import { execa } from 'execa';
import { serveArgs, startServer } from '../../test/serverProcess.js';
import { isInReach, ownerOf } from '../src/privileges/ownerOf.js';
import { folderStep, writeStep } from '../src/service/steps.js';
import { onTerminal, program, stowage } from './program.js';

/** Some user that no machine has. */
const uid = 47_430;
const gid = 47_431;
const password = 'correct horse\n';
/** Only what hangs takes so long, however busy the machine and cold its disk are. */
const timeout = 180_000;

// The worst one that a shell of root can have.
test.before(() => process.umask(0));

/** A folder that everybody may pass, with a data folder of that user in it. */
async function machine(t: ExecutionContext) {
	t.is(process.geteuid?.(), 0, 'these tests run as root');
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-root-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await chmod(folder, 0o755);
	const at = (...names: string[]) => path.join(folder, ...names);
	await mkdir(at('data'), { mode: 0o750 });
	await chown(at('data'), uid, gid);
	return { at, flags: ['--data-dir', at('data'), '--log-level', 'error'] };
}

/** What lies below a folder and belongs to root. */
async function ofRoot(folder: string): Promise<string[]> {
	return (await promisify(execFile)('find', [folder, '-uid', '0'])).stdout.split('\n').filter((line) => line !== '');
}

test('commands of root make nothing of root’s in a data folder of somebody else, and the audit log names root', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0, stderr: '' });
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	t.deepEqual(await ofRoot(at('data')), []);
	t.like(await stat(at('data/files/users/ada')), { uid, gid });
	const { stdout } = await stowage(['audit', '--json', ...flags]);
	t.like(JSON.parse(stdout.split('\n')[0] ?? ''), { action: 'createUser', uid: 0 });
});

test('what the server can’t read in a home ends no backup: it is named, and the command fails only where every hash was asked for', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0, stderr: '' });
	const trip = at('data/files/users/ada/trip');
	await mkdir(path.join(trip, 'closed'), { recursive: true });
	await writeFile(path.join(trip, 'a.txt'), 'A');
	await writeFile(path.join(trip, 'secret.txt'), 'B');
	for (const each of ['', 'closed', 'a.txt', 'secret.txt']) await chown(path.join(trip, each), uid, gid);
	for (const each of ['closed', 'secret.txt']) await chmod(path.join(trip, each), 0);
	t.like(await stowage(['link', 'add', 'ada', 'trip', ...flags]), { code: 0, stderr: '' });

	const names = (stderr: string) => stderr.match(/(?<=^Can't be read, and has no hash in the backup: ).*/gm)?.sort();
	const unread = ['users/ada/trip/closed', 'users/ada/trip/secret.txt'];
	const hashesOf = async (zip: string) => (await promisify(execFile)('unzip', ['-p', zip, 'hashes.jsonl'])).stdout;
	const linked = await stowage(['backup', at('linked.zip'), ...flags]);
	t.is(linked.code, 0, linked.stderr);
	t.deepEqual(names(linked.stderr), unread);
	t.regex(await hashesOf(at('linked.zip')), /^\{"path":"users\/ada\/trip\/a.txt",[^\n]*\n$/);

	const all = await stowage(['backup', at('all.zip'), '--hashes', '--json', ...flags]);
	t.is(all.code, 1);
	t.deepEqual(names(all.stderr), unread);
	t.regex(all.stderr, /\nThe backup is written, but without the hashes of files that can’t be read\.$/);
	t.false(JSON.parse(all.stdout).hasAllHashes);
	t.like(await stowage(['restore', at('all.zip'), '--relink', ...flags]), { code: 0, stderr: '' });
});

test('a folder or file of visitors that the server can’t read is named, and keeps none of the others from being listed and removed', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	const tree = at('data/files/users/anonymous/Public');
	await mkdir(path.join(tree, 'closed'), { recursive: true });
	for (const name of ['a.txt', 'secret.txt']) await writeFile(path.join(tree, name), name);
	for (const each of ['..', '.', 'closed', 'a.txt', 'secret.txt']) await chown(path.join(tree, each), uid, gid);
	for (const each of ['closed', 'secret.txt']) await chmod(path.join(tree, each), 0);
	const { code, stdout, stderr } = await stowage(['public', 'list', '--json', ...flags]);
	t.is(code, 0, stderr);
	t.deepEqual(
		JSON.parse(stdout).map((each: { path: string }) => each.path),
		['a.txt'],
	);
	t.deepEqual(stderr.split('\n').sort(), [
		"Can't be read, and is left out: closed",
		"Can't be read, and is left out: secret.txt",
	]);
	t.like(await stowage(['public', 'purge', '--older-than', '1d', '--yes', ...flags]), { code: 0 });
});

/** Before it has its program, nobody but root may send it signals. */
const stopReader = `
const { readFileSync } = require('node:fs');
const read = (file) => { try { return readFileSync(file, 'utf8'); } catch { return ''; } };
const parent = process.argv[1];
for (let found; found === undefined && read('/proc/' + parent + '/cmdline') !== ''; ) {
	const children = read('/proc/' + parent + '/task/' + parent + '/children').split(' ').filter(Boolean);
	found = children.find((each) => read('/proc/' + each + '/cmdline').includes('addedRootsProgram'));
	if (found === undefined) continue;
	process.kill(Number(found), 'SIGSTOP');
	console.log(found);
}
`;

test('service print of root does not wait for ever for the process that reads the database, which its user may stop', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['root', 'list', ...flags]), { code: 0 });
	await writeFile(at('config.yaml'), `dataDir: ${at('data')}\n`);
	const words = [program, 'service', 'print', '--config', at('config.yaml')];
	const printing = execa(process.execPath, words, { reject: false, timeout });
	// In a process of its own, which has its turn in time while others test: that one lives for some tenths of a second.
	const stopper = execa(process.execPath, ['-e', stopReader, String(printing.pid)], { reject: false, timeout });
	const stopped = stopper.then(({ stdout }) => Number(stdout));
	t.teardown(async () => {
		stopper.kill('SIGKILL');
		try {
			process.kill((await stopped) || Number.NaN, 'SIGKILL');
		} catch {
			// It has ended.
		}
	});
	const { exitCode, stdout, stderr } = await printing;
	t.true((await stopped) > 0);
	t.is(exitCode, 0, stderr);
	t.regex(stderr, /the process of user 47430 that reads it gave no answer in 15 s/);
	t.true(stdout.includes(`ReadWritePaths=${at('data')}`));
});

test('a link in the data folder does not make a command of root change what it leads to', async (t) => {
	const { at, flags } = await machine(t);
	await mkdir(at('victim'), { mode: 0o755 });
	await writeFile(at('victim/file'), 'untouched', { mode: 0o644 });
	for (const [name, target] of [
		['audit', at('victim')],
		['thumbnails', at('victim')],
		['stowage.db-wal', at('victim/file')],
		['stowage.db-shm', at('victim/file')],
	] as const) {
		await symlink(target, at('data', name));
		await lchown(at('data', name), uid, gid);
	}
	await stowage(['user', 'add', 'ada', ...flags], { input: password });
	await stowage(['doctor', ...flags]);
	t.like(await stat(at('victim')), { uid: 0, mode: 0o40755 });
	t.like(await stat(at('victim/file')), { uid: 0, mode: 0o100644 });
	t.is(await readFile(at('victim/file'), 'utf8'), 'untouched');
	t.deepEqual(await readdir(at('victim')), ['file']);
});

test('what doctor advises root to close to others is closed as the owner of the data folder, whose links may lead to files of root’s', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	for (const each of ['data', 'data/files']) await chmod(at(each), 0o755);
	await mkdir(at('victim'), { mode: 0o755 });
	await writeFile(at('victim/file'), 'untouched', { mode: 0o644 });
	await rm(at('data/audit'), { recursive: true, force: true });
	for (const [name, target] of [
		['audit', 'victim'],
		['stowage.db.old', 'victim/file'],
	] as const) {
		await symlink(at(target), at('data', name));
		await lchown(at('data', name), uid, gid);
	}
	const { stdout } = await stowage(['doctor', '--json', ...flags]);
	const remedies = (JSON.parse(stdout) as { remedy?: string }[]).map(({ remedy = '' }) => remedy);
	const closing = remedies.filter((remedy) => remedy.includes('chmod'));
	// Sudo refuses a number without a name.
	const own = `setpriv --reuid=${uid} --regid=${gid} --groups=${gid}`;
	for (const each of [
		...[`750 ${at('data')}`, `700 ${at('data/audit')}`],
		...[`o= ${at('data/stowage.db.old')}`, `o= ${at('data/files')}`],
	])
		t.true(closing.includes(`${own} chmod ${each}`), `${each}\n${closing.join('\n')}`);
	t.true(closing.every((remedy) => remedy.startsWith(own)));
	// What is the owner's is closed, and what its links lead to is left.
	for (const command of closing) await execa('sh', ['-c', command]).catch(() => undefined);
	t.is((await stat(at('data'))).mode & 0o777, 0o750);
	t.is((await stat(at('victim/file'))).mode & 0o777, 0o644);
});

test('a database of root’s that somebody links into the data folder is read by no command of root', async (t) => {
	const { at, flags } = await machine(t);
	const own = ['--data-dir', at('own'), '--log-level', 'error'];
	t.like(await stowage(['root', 'add', 'secret', at('secret'), ...own]), { code: 0 });
	await chmod(at('own'), 0o755);
	t.like(await stat(at('own/stowage.db')), { uid: 0, mode: 0o100600 });
	await symlink(at('own/stowage.db'), at('data/stowage.db'));
	await lchown(at('data/stowage.db'), uid, gid);
	const { code, stderr } = await stowage(['root', 'list', ...flags]);
	t.is(code, 78);
	t.regex(stderr, /EACCES/);
	await writeFile(at('config.yaml'), `dataDir: ${at('data')}\n`);
	const unit = await stowage(['service', 'print', '--config', at('config.yaml')]);
	t.regex(unit.stderr, /^The unit lacks storage roots/);
	t.notRegex(unit.stdout, /secret/);
});

test('a data folder that is a link is followed by root if the link is root’s, and refused if it is anybody else’s', async (t) => {
	const { at } = await machine(t);
	await mkdir(at('of root'), { mode: 0o755 });
	await symlink(at('data'), at('link'));
	t.like(await stowage(['user', 'list', '--data-dir', at('link'), '--log-level', 'error']), { code: 0 });
	t.deepEqual(await ofRoot(at('data')), []);
	await rm(at('link'));
	await symlink(at('of root'), at('link'));
	await lchown(at('link'), uid, gid);
	for (const dataDir of [at('link'), at('link/below')]) {
		const { code, stderr } = await stowage(['user', 'list', '--data-dir', dataDir]);
		t.is(code, 78);
		t.regex(stderr, /link is a link of user 47430, which root does not follow/);
	}
	t.deepEqual(await readdir(at('of root')), []);
});

test('somebody who exchanges a folder above the data folder for a link meanwhile has root become nobody but the owner of what was there', async (t) => {
	const { at } = await machine(t);
	const other = uid + 2;
	for (const [name, owner] of [
		['way', uid],
		['way/data', uid],
		['others', other],
		['others/data', other],
	] as const) {
		await mkdir(at(name), { mode: 0o755 });
		await chown(at(name), owner, owner);
	}
	const owners: (number | undefined)[] = [];
	for await (const { path: step, stat: found } of walkPath(at('way/data'))) {
		if (step.startsWith(at('way'))) owners.push(found?.uid);
		if (step !== at('way')) continue;
		renameSync(at('way'), at('held'));
		symlinkSync(at('others'), at('way'));
		lchownSync(at('way'), uid, gid);
	}
	t.deepEqual(owners, [uid, uid]);

	// A link of root's in a folder of somebody else has the name that this one gives it.
	await symlink(at('others'), at('held/link'));
	const dataDir = at('held/link/data');
	const refused = await stowage(['user', 'list', '--data-dir', dataDir]);
	t.is(refused.code, 78);
	t.regex(refused.stderr, /link is a link in a folder of user 47430, which root follows to folders of that user only/);
	t.deepEqual(await readdir(at('others/data')), []);
	await mkdir(at('own'), { mode: 0o755 });
	for (const name of ['own', 'others/data']) await chown(at(name), uid, gid);
	t.like(await ownerOf(dataDir), { uid });
	await symlink('../../own', at('held/data/link'));
	t.like(await ownerOf(at('held/data/link/missing')), { uid });
});

test('a data folder that is missing is made by the owner of the folder that it lies in', async (t) => {
	const { at } = await machine(t);
	t.like(await stowage(['user', 'list', '--data-dir', at('data/a/b'), '--log-level', 'error']), { code: 0 });
	t.like(await stat(at('data/a')), { uid, gid });
	t.deepEqual(await ofRoot(at('data')), []);
});

test('a server that root starts on a data folder of somebody else becomes that user', async (t) => {
	const { at } = await machine(t);
	const server = await startServer(t, { args: serveArgs(at('data')) });
	const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
	t.regex(status, new RegExp(`^Uid:(\\t${uid}){4}$`, 'm'));
	t.regex(status, new RegExp(`^Gid:(\\t${gid}){4}$`, 'm'));
	t.regex(status, new RegExp(`^Groups:\\t${gid} ?$`, 'm'));
});

test('root becomes the service’s user with the groups of its account and of its unit, also for a data folder that is root’s or missing', async (t) => {
	const { at } = await machine(t);
	const idOf = async (...args: string[]) => Number((await promisify(execFile)('id', args)).stdout);
	const [nobody, own] = [await idOf('-u', 'nobody'), await idOf('-g', 'nobody')];
	const games = await idOf('-g', 'games');
	await mkdir(at('units/etc/systemd/system'), { recursive: true });
	const unit = (line: string) =>
		`[Service]\nUser=nobody\n${line}\nProtectSystem=strict\nReadWritePaths=${at('data')}\n`;
	const write = (line: string) => writeFile(at('units/etc/systemd/system/stowage.service'), unit(line));
	await write('SupplementaryGroups=games');
	const ids = { uid: nobody, gid: own, groups: [own, games] };
	await chown(at('data'), nobody, own);
	t.deepEqual(await ownerOf(at('data'), at('units')), ids);
	await chown(at('data'), 0, 0);
	t.deepEqual(await ownerOf(at('data'), at('units')), ids);
	t.deepEqual(await ownerOf(at('data/missing'), at('units')), ids);
	t.is(await ownerOf(at('elsewhere'), at('units')), undefined, 'the unit does not name it');
	await write('Group=games');
	t.deepEqual(await ownerOf(at('data'), at('units')), { uid: nobody, gid: games, groups: [games, own] });
});

test('an owner without an account has no group that the machine knows, be it that of its folder', async (t) => {
	const { at, flags } = await machine(t);
	const [account] = (await readFile('/etc/passwd', 'utf8')).split('\n').filter((line) => /^games:/.test(line));
	const [, , games, group] = (account ?? '').split(':').map(Number);
	t.true(Number(games) > 0 && Number(group) > 0);
	for (const [its, expected] of [
		[0, uid],
		[Number(group), uid],
		[gid, gid],
	] as const) {
		await chown(at('data'), uid, its);
		t.deepEqual(await ownerOf(at('data')), { uid, gid: expected, groups: [expected] }, String(its));
	}
	await chown(at('data'), uid, 0);
	const server = await startServer(t, { args: serveArgs(at('data')) });
	const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
	t.regex(status, new RegExp(`^Gid:(\\t${uid}){4}$`, 'm'));
	t.regex(status, new RegExp(`^Groups:\\t${uid} ?$`, 'm'));

	// An account has its groups also where the programs that tell them are missing.
	await mkdir(at('theirs'), { mode: 0o750 });
	await chown(at('theirs'), Number(games), 0);
	const words = ['user', 'add', 'ada', '--data-dir', at('theirs'), ...flags.slice(2)];
	t.like(await stowage(words, { input: password, env: { PATH: at('none') } }), { code: 0, stderr: '' });
	t.like(await stat(at('theirs/files/users/ada')), { uid: games, gid: group });
});

test('where each number of an owner without an account is that of some group, a command of root ends and says so', async (t) => {
	const { at } = await machine(t);
	const [accounts, groups] = await Promise.all(
		['passwd', 'group'].map(async (name) => {
			const lines = (await readFile(path.join('/etc', name), 'utf8')).trim().split('\n');
			return new Set(lines.map((line) => Number(line.split(':')[2])));
		}),
	);
	const ofGroupOnly = [...(groups ?? [])].find((id) => !accounts?.has(id));
	if (ofGroupOnly === undefined) return t.fail('each group has the number of an account');
	await chown(at('data'), ofGroupOnly, 0);
	const words = ['user', 'list', '--data-dir', at('data')];
	const { code, stderr } = await stowage(words);
	t.is(code, 78);
	t.regex(stderr, /who has no account here\. .* name the user and its group in the variables PUID and PGID\.$/);
	t.deepEqual(await readdir(at('data')), []);
	t.like(await stowage(words, { env: { PUID: String(ofGroupOnly), PGID: String(gid) } }), { code: 0, stderr: '' });
});

test('what commands make is closed to other accounts, whatever the umask of the shell is', async (t) => {
	const { at, flags } = await machine(t);
	await mkdir(at('disks'), { mode: 0o755 });
	await chown(at('disks'), uid, gid);
	const modeOf = async (name: string) => ((await stat(at(name))).mode & 0o7777).toString(8);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	t.is(await modeOf('data/files/users/ada'), '750');
	t.is(await modeOf('data/files'), '750');
	t.is(await modeOf('data/stowage.db'), '600');
	t.is(await modeOf('data/audit'), '700');
	t.like(await stowage(['root', 'add', 'big', at('disks/big'), ...flags]), { code: 0 });
	t.is(await modeOf('disks/big'), '750');
	await writeFile(at('data/files/users/ada/a.txt'), 'A', { mode: 0o640 });
	await chown(at('data/files/users/ada/a.txt'), uid, gid);
	t.like(await stowage(['user', 'move-root', 'ada', 'big', ...flags]), { code: 0 });
	t.is(await modeOf('disks/big/users/ada'), '750');
	t.is(await modeOf('disks/big/users/ada/a.txt'), '640');
	t.like(await stowage(['user', 'add', 'bob', ...flags, '--umask', '007'], { input: password }), { code: 0 });
	t.is(await modeOf('data/files/users/bob'), '770', 'the setting takes precedence');
});

test('root backs up into a folder of its own, with a configuration of its own, and restores from there', async (t) => {
	const { at, flags } = await machine(t);
	await mkdir(at('backup'), { mode: 0o700 });
	await writeFile(at('config.yaml'), `dataDir: ${at('data')}\nlog: {level: error}\n`, { mode: 0o600 });
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	const args = ['backup', at('backup/one.zip'), '--config', at('config.yaml')];
	t.like(await stowage(args), { code: 0, stderr: '' });
	t.like(await stat(at('backup/one.zip')), { uid: 0, mode: 0o100600 });
	t.like(await stowage(args), { code: 1, stderr: `There is a file of this name already: ${at('backup/one.zip')}` });
	t.like(await stowage(['backup', at('backup/two.zip'), ...flags, '--database-url', 'sqlite:/']), { code: 78 });
	t.deepEqual(await readdir(at('backup')), ['one.zip'], 'nothing is left of those that failed');

	await mkdir(at('new'), { mode: 0o750 });
	await chown(at('new'), uid, gid);
	const there = ['--data-dir', at('new'), '--log-level', 'error'];
	const restored = ['restore', at('backup/one.zip'), '--write-config', at('backup/config.yaml'), ...there];
	t.like(await stowage(restored), { code: 0, stderr: '' });
	t.deepEqual(await ofRoot(at('new')), []);
	t.is(await readFile(at('backup/config.yaml'), 'utf8'), await readFile(at('config.yaml'), 'utf8'));
	t.like(await stat(at('backup/config.yaml')), { uid: 0, mode: 0o100600 });
	t.like(await stowage(['restore', at('backup/one.zip'), '--relink', ...there]), { code: 0, stderr: '' });
	t.deepEqual((await readdir(at('backup'))).sort(), ['config.yaml', 'one.zip']);
});

test('what a command of root began is removed also if that command ends while the process that names it is still loaded', async (t) => {
	const { at } = await machine(t);
	for (const delay of [0, 10, 20, 40, 80, 160]) {
		await writeFile(at('one.zip.partial'), 'begun');
		const helper = fork(path.resolve('cli/dist/publishingProgram.js'), [at('one.zip.partial'), at('one.zip')]);
		const ended = once(helper, 'exit');
		await setTimeout(delay);
		helper.disconnect();
		t.deepEqual(await ended, [0, null]);
		t.deepEqual(await readdir(at()), ['data'], `after ${delay} ms`);
	}
});

test('root’s nightly backup into a folder of its own removes the oldest one there, and one into the owner’s folder is the owner’s', async (t) => {
	const { at, flags } = await machine(t);
	await mkdir(at('backup'), { mode: 0o700 });
	const old = ['stowage-2001-01-02T030000Z.zip', 'stowage-2001-01-03T030000Z.zip'];
	for (const name of old) await writeFile(at('backup', name), name);
	const { code, stdout, stderr } = await stowage(['backup', at('backup'), '--keep', '2', ...flags]);
	t.like({ code, stderr }, { code: 0, stderr: '' });
	t.true(stdout.endsWith(`\nRemoved the old backup ${old[0]}.`), stdout);
	const [left, made = '', ...none] = (await readdir(at('backup'))).sort();
	t.deepEqual([left, none], [old[1], []]);
	t.like(await stat(at('backup', made)), { uid: 0, mode: 0o100600 });
	t.like(await stowage(['restore', at('backup', made), '--data-dir', at('data/new'), '--log-level', 'error']), {
		code: 0,
	});

	// A folder of the owner's is the owner's business, and root's old backups are not counted there.
	await mkdir(at('data/backups'), { mode: 0o755 });
	await chown(at('data/backups'), uid, gid);
	await writeFile(at('data/backups', old[0] ?? ''), 'of root');
	t.like(await stowage(['backup', at('data/backups'), '--keep', '1', ...flags]), { code: 0, stderr: '' });
	const names = (await readdir(at('data/backups'))).sort();
	t.is(names.length, 2);
	t.like(await stat(at('data/backups', names[1] ?? '')), { uid, gid });

	const piped = await execa(process.execPath, [program, 'backup', '-', ...flags], { encoding: 'buffer' });
	const input = Buffer.from(piped.stdout);
	t.like(await stowage(['restore', '-', '--data-dir', at('data/piped'), '--log-level', 'error'], { input }), {
		code: 0,
	});
	t.deepEqual(await ofRoot(at('data/piped')), []);
});

test('a user who can’t read the key, the database, the files or the data folder gets sentences that name them', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	await mkdir(at('backup'));
	await chown(at('backup'), uid, gid);
	const asOwner = async (...words: string[]) => {
		const ended = await execa(process.execPath, [program, ...words, '--data-dir', at('data')], {
			...{ uid, gid, cwd: '/', reject: false },
			env: { NODE_OPTIONS: '', HOME: '/' },
		});
		t.notRegex(ended.stderr, /\n\s+at |\/proc\/self/, `${words.join(' ')}: ${ended.stderr}`);
		return { code: ended.exitCode, stderr: ended.stderr };
	};
	const commands = [
		['user', 'list'],
		['user', 'quota', 'ada'],
		['link', 'purge'],
		['backup', at('backup')],
	];
	const refusedBy = async (name: string, message: RegExp) => {
		await chown(at(name), 0, 0);
		const { mode } = await stat(at(name));
		await chmod(at(name), mode & 0o700);
		for (const words of commands) {
			const { code, stderr } = await asOwner(...words);
			t.is(code, 78, words.join(' '));
			t.regex(stderr, message);
			t.true(stderr.includes(at(name)), stderr);
			t.is(stderr.split('\n').length, 1, stderr);
		}
		await chown(at(name), uid, gid);
	};
	await refusedBy('data/session.key', /^The key \S+ can't be read by user 47430.*chown/);
	await refusedBy('data/stowage.db', /^The database file cannot be used: EACCES.*chown/);
	await refusedBy('data', /^The data folder \S+ can't be used \(EACCES\): run this as the user to whom it belongs/);
	t.deepEqual(await readdir(at('backup')), []);

	await chown(at('data/files/.stowage'), 0, 0);
	const { code, stderr } = await asOwner('user', 'quota', 'ada');
	t.is(code, 0);
	const said =
		/EACCES: permission denied, open 'root\.json'\nThe home of ada was not measured: The storage is not available right now\.$/;
	t.regex(stderr, said);
});

/** Runs a command as root without these capabilities, as in a container or where a disk knows no root. */
async function withoutCapabilities(capabilities: string, words: readonly string[]) {
	const command = [`--bounding-set=${capabilities}`, process.execPath, program, ...words];
	const ended = await execa('setpriv', command, { reject: false, timeout, env: { NODE_OPTIONS: '', PUID: '' } });
	return { code: ended.exitCode, stderr: ended.stderr };
}

test('root who may not become the owner of the data folder says so, and whom to run it as', async (t) => {
	const { at } = await machine(t);
	for (const capabilities of ['-setuid,-setgid', '-setuid', '-setgid']) {
		const words = ['user', 'list', '--data-dir', at('data')];
		const { code, stderr } = await withoutCapabilities(capabilities, words);
		t.is(code, 78);
		t.is(
			stderr,
			`The data folder is of user ${uid}, whom root becomes to work on it, and this process can't become that user (EPERM): run it as user ${uid}, or with the capabilities CAP_SETUID and CAP_SETGID.`,
		);
	}
	t.deepEqual(await readdir(at('data')), []);
});

test('root who is shut out of the folder above the data folder is told as whom to run the command', async (t) => {
	const { at } = await machine(t);
	await mkdir(at('home'));
	await rename(at('data'), at('home/data'));
	await chown(at('home'), uid, gid);
	await chmod(at('home'), 0o700);
	const words = ['user', 'list', '--data-dir', at('home/data')];
	const { code, stderr } = await withoutCapabilities('-dac_override,-dac_read_search', words);
	t.is(code, 78);
	t.is(
		stderr,
		`${at('home/data')} can't be looked at (EACCES): ${at('home')} belongs to user ${uid} and shuts user 0 out. Run this as its owner (sudo -u '#${uid}').`,
	);
});

test('service install gives a data folder to the service that a link of root leads to, and none that anybody else’s does', async (t) => {
	const { at } = await machine(t);
	await mkdir(at('disk'), { mode: 0o755 });
	await symlink(at('disk'), at('link'));
	const owner = async () => ({ uid, gid });
	await folderStep(at('link'), owner).run();
	t.like(await stat(at('disk')), { uid, gid });
	await chown(at('disk'), 0, 0);
	await lchown(at('link'), uid, gid);
	await t.throwsAsync(folderStep(at('link'), owner).run(), { message: /is a link of user/ });
	t.like(await stat(at('disk')), { uid: 0 });
	await t.throwsAsync(writeStep(at('link'), 'text', 0o644).run(), { message: /is a link: remove it/ });
	await t.throwsAsync(writeStep(at('disk'), 'text', 0o644).run(), { message: /is a folder: remove it/ });
	await execa('mkfifo', [at('pipe')]);
	await t.throwsAsync(writeStep(at('pipe'), 'text', 0o644).run(), { message: /is no file: remove it/ });
	const reader = await open(at('pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
	await t.throwsAsync(writeStep(at('pipe'), 'text', 0o644).run(), { message: /is no file: remove it/ });
	await reader.close();
});

test('service install gives no folder of root’s away, and config init replaces no file of root’s, where somebody exchanges a folder meanwhile', async (t) => {
	const { at } = await machine(t);
	const own = async (name: string) => {
		await mkdir(at(name), { mode: 0o755 });
		await lchown(at(name), uid, gid);
	};
	const leadElsewhere = () => {
		renameSync(at('data/way'), at('data/held'));
		symlinkSync(at('of root'), at('data/way'));
		lchownSync(at('data/way'), uid, gid);
		return '\r';
	};
	await mkdir(at('of root'), { mode: 0o755 });
	await writeFile(at('of root/site.yaml'), '# only comments\n');
	await own('data/way');
	await writeFile(at('data/way/site.yaml'), '# others\n');
	const { code, shown } = await onTerminal(['config', 'init', at('data/way/site.yaml')], [leadElsewhere, '\r', '\r']);
	t.is(code, 78, shown);
	t.is(await readFile(at('of root/site.yaml'), 'utf8'), '# only comments\n');
	t.is(await readFile(at('data/held/site.yaml'), 'utf8'), '# others\n');
	for (const folder of ['of root', 'data/held']) t.deepEqual(await readdir(at(folder)), ['site.yaml']);

	// The folder that is looked into is the one that is given away.
	await mkdir(at('data/full'));
	await writeFile(at('data/full/file'), 'of root');
	await own('data/empty');
	const exchange = async () => {
		await rename(at('data/full'), at('data/elsewhere'));
		await rename(at('data/empty'), at('data/full'));
		return { uid, gid };
	};
	await t.throwsAsync(folderStep(at('data/full'), exchange).run(), { message: /does not belong to/ });
	t.like(await stat(at('data/elsewhere')), { uid: 0 });

	// A link of root's counts where nobody else could have put it only.
	await symlink(at('of root'), at('data/link'));
	await t.throwsAsync(folderStep(at('data/link'), async () => ({ uid, gid })).run(), { message: /others may write/ });

	// The name of a new configuration is free, also a moment later.
	await writeFile(at('data/held/other.yaml'), 'of root');
	const asNew = writeStep(at('data/held/other.yaml'), 'text', 0o640, async () => ({ uid, gid }));
	await t.throwsAsync(asNew.run(), { message: /is there by now/ });
	t.is(await readFile(at('data/held/other.yaml'), 'utf8'), 'of root');
});

test('the owner of the data folder opens no debugger in a command that root runs, and has root’s terminal by none that it starts', async (t) => {
	const { at, flags } = await machine(t);
	await stowage(['user', 'list', ...flags]);
	const adding = execa(process.execPath, [program, 'user', 'add', 'ada', ...flags], { env: { NODE_OPTIONS: '' } });
	t.teardown(() => void adding.kill());
	const isTheirs = async () => (await readFile(`/proc/${adding.pid}/status`, 'utf8')).includes(`\nUid:\t${uid}\t`);
	while (!(await isTheirs())) await setTimeout(50);
	// The shell's own, which every machine has.
	await execa('sh', ['-c', `kill -USR1 ${adding.pid}`], { uid, gid });
	await setTimeout(1000);
	adding.stdin.end(password);
	t.like(await adding, { exitCode: 0, stderr: '' });

	// Each says which session it is in, and what it has of root. One of a session of its own has no terminal.
	const said = at('said');
	const script = `#!/bin/sh\nread -r _ _ _ _ _ session _ </proc/$$/stat\necho "$session $$ <$ROOTS_SECRET>" $(ls /proc/$$/fd) >>${said}\n`;
	await mkdir(at('bin'), { mode: 0o755 });
	for (const name of ['ffprobe', 'HandBrakeCLI']) await writeFile(at('bin', name), script, { mode: 0o755 });
	await writeFile(said, '', { mode: 0o666 });
	await writeFile(at('secret'), '', { mode: 0o600 });
	await execa(
		'bash',
		['-c', 'exec 30<>"$0" 63<>"$0"; "$@"', at('secret'), process.execPath, program, 'doctor', ...flags],
		{
			reject: false,
			env: { PATH: `${at('bin')}:${process.env.PATH}`, ROOTS_SECRET: 'secret', NODE_OPTIONS: '' },
		},
	);
	const lines = (await readFile(said, 'utf8')).trim().split('\n');
	t.true(lines.length >= 2);
	for (const line of lines) {
		const [session, pid, secret, ...descriptors] = line.split(' ');
		t.is(session, pid);
		t.is(secret, '<>');
		t.false(descriptors.includes('30') || descriptors.includes('63'), line);
	}

	const server = await startServer(t, { args: serveArgs(at('data'), '--workers', '2') });
	const children = await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8');
	const workers = children.trim().split(' ');
	t.is(workers.length, 2);
	const outputs = await Promise.all([1, 2].map((each) => readlink(`/proc/${server.pid}/fd/${each}`)));
	for (const each of workers) {
		t.is((await readFile(`/proc/${each}/stat`, 'utf8')).split(' ')[5], each);
		t.is(await readlink(`/proc/${each}/fd/0`), '/dev/null');
		for (const own of [1, 2]) t.false(outputs.includes(await readlink(`/proc/${each}/fd/${own}`)));
	}
	t.is(await server.stop(), 0);
});

test('the workers of a server that root starts say what they say through it, and don’t begin without a configuration that a shell passes', async (t) => {
	const { at } = await machine(t);
	const args = serveArgs(at('data'), '--workers', '2', '--log-level', 'info').slice(1);
	const server = execa(process.execPath, [program, ...args], { reject: false, env: { NODE_OPTIONS: '' } });
	t.teardown(() => void server.kill('SIGKILL'));
	let said = '';
	for (const output of [server.stdout, server.stderr]) output.on('data', (chunk: Buffer) => (said += chunk));
	const saying = async (text: RegExp) => {
		while (!text.test(said)) await setTimeout(50);
	};
	await saying(/Stowage is ready at/);
	const [worker] = (await readFile(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')).split(' ');
	process.kill(Number(worker), 'SIGTERM');
	await saying(/"reason":"SIGTERM".*"msg":"stopping"/);
	server.kill('SIGTERM');
	t.like(await server, { exitCode: 0 });
	await writeFile(at('stowage.yaml'), 'publicUrl: https://stowage.example\n');
	const words = [at('stowage.yaml'), process.execPath, program, ...args, '--config', '/dev/stdin'];
	const passed = await execa('bash', ['-c', '"$@" <"$0"', ...words], { reject: false, env: { NODE_OPTIONS: '' } });
	t.is(passed.exitCode, 78);
	t.true(passed.stderr.includes('name a file'), passed.stderr);
});

test('root’s backup is written by the data folder’s owner where that one could exchange the folder', async (t) => {
	const { at, flags } = await machine(t);
	await mkdir(at('data/backups'), { mode: 0o755 });
	await chown(at('data/backups'), uid, gid);
	t.like(await stowage(['backup', at('data/backups/one.zip'), ...flags]), { code: 0 });
	t.like(await stat(at('data/backups/one.zip')), { uid, gid, mode: 0o100600 });
	await mkdir(at('victim'), { mode: 0o755 });
	await symlink(at('victim'), at('data/elsewhere'));
	await lchown(at('data/elsewhere'), uid, gid);
	const { code, stderr } = await stowage(['backup', at('data/elsewhere/two.zip'), ...flags]);
	t.is(code, 1);
	t.regex(stderr, /^The file can't be written \(EACCES\)/);
	t.deepEqual(await readdir(at('victim')), []);
});

test('somebody who exchanges the folder of root’s backups, or leads elsewhere by a link, has root name and remove nothing there', async (t) => {
	const { at, flags } = await machine(t);
	const third = uid + 2;
	const old = 'stowage-2001-01-02T030000Z.zip';
	for (const name of ['third', 'third/way', 'third/way/backups', 'of root', 'of root/backups']) {
		await mkdir(at(name), { mode: 0o755 });
		if (name.startsWith('third')) await chown(at(name), third, third);
	}
	await writeFile(at('of root/backups', old), 'of root');
	await symlink(at('of root'), at('third/link'));
	await lchown(at('third/link'), third, third);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });

	const refused = await stowage(['backup', at('third/link/backups'), '--keep', '1', ...flags]);
	t.is(refused.code, 78, refused.stdout);
	t.regex(refused.stderr, /third\/link is a link of user 47432, which root does not follow: name the folder itself/);
	const restored = ['restore', at('missing.zip'), '--write-config', at('third/link/site.yaml'), ...flags];
	t.is((await stowage(restored)).code, 1, 'the backup is opened first');
	t.deepEqual(await readdir(at('of root')), ['backups']);

	// Where the command becomes the owner another process has the folder, and where it stays root it has it itself.
	await mkdir(at('data of root'), { mode: 0o755 });
	const ofRootItself = ['--data-dir', at('data of root'), '--log-level', 'error'];
	t.like(await stowage(['user', 'list', ...ofRootItself]), { code: 0 });
	for (const [held, each] of [
		['one', flags],
		['two', ofRootItself],
	] as const) {
		const running = stowage(['backup', at('third/way/backups'), '--keep', '1', ...each]);
		let hasEnded = false;
		void running.finally(() => {
			hasEnded = true;
		});
		const isBegun = async () => (await readdir(at('third/way/backups'))).some((name) => name.endsWith('.partial'));
		while (!hasEnded && !(await isBegun())) await setTimeout(1);
		await rename(at('third/way'), at('third', held));
		await symlink(at('of root'), at('third/way'));
		const { code, stderr } = await running;
		t.is(code, 0, stderr);
		t.deepEqual(await readdir(at('of root/backups')), [old]);
		const made = await readdir(at('third', held, 'backups'));
		t.regex(made.join(), /^stowage-[^.]+\.zip$/);
		t.like(await stat(at('third', held, 'backups', made[0] ?? '')), { uid: 0, mode: 0o100600 });
		await rm(at('third/way'));
		await mkdir(at('third/way/backups'), { recursive: true });
	}
});

test('root holds a folder below one that it may pass only, and follows a link of its own in a folder of its group', async (t) => {
	const { at } = await machine(t);
	await mkdir(at('closed/backups'), { recursive: true, mode: 0o755 });
	await chmod(at('closed'), 0o711);
	await chown(at('closed'), uid, gid);
	await mkdir(at('srv'));
	await chmod(at('srv'), 0o775);
	await symlink(at('closed/backups'), at('srv/link'));
	// As in a container without that capability, or over NFS.
	const without = '-dac_override,-dac_read_search';
	const words = [
		'--bounding-set',
		without,
		process.execPath,
		program,
		'config',
		'init',
		at('srv/link/site.yaml'),
		'--yes',
	];
	const { exitCode, stderr } = await execa('setpriv', words, { reject: false, timeout });
	t.is(exitCode, 0, stderr);
	t.deepEqual(await readdir(at('closed/backups')), ['site.yaml']);
});

test('a file is in reach of an account whose own folder or link is on the way, or one that it may write to', async (t) => {
	const { at } = await machine(t);
	const owner = { uid, gid, groups: [gid] };
	const isReached = (name: string) => isInReach(at(name), owner);
	t.false(await isReached('file'));
	t.true(await isReached('data/file'));
	await mkdir(at('shared'), { mode: 0o755 });
	t.false(await isReached('shared/file'));
	await chown(at('shared'), 0, gid);
	await chmod(at('shared'), 0o770);
	t.true(await isReached('shared/file'));
	await chmod(at('shared'), 0o777);
	t.true(await isInReach(at('shared/file'), { uid, gid: 5, groups: [5] }));
	await chmod(at('shared'), 0o1777);
	t.true(await isReached('shared/free'), 'anybody can take a free name');
	await writeFile(at('shared/file'), 'of root');
	t.false(await isReached('shared/file'), 'others can’t exchange what is in a folder with the sticky bit');
	await symlink('file', at('shared/beside'));
	t.false(await isReached('shared/beside'));
	await link(at('shared/file'), at('another name'));
	t.true(await isReached('shared/file'), 'anybody may have given the file its name there');
	t.true(await isReached('shared/beside'));
	t.false(await isReached('another name'));
	await symlink(at('file'), at('shared/link'));
	t.false(await isReached('shared/link'));
	await lchown(at('shared/link'), uid, gid);
	t.true(await isReached('shared/link'));
	await symlink('../data/x', at('shared/relative'));
	t.true(await isReached('shared/relative'));
});

test('a folder is in reach of an account that an ACL lets write there, and not of one that the mask keeps out', async (t) => {
	const { at, flags } = await machine(t);
	const owner = { uid, gid, groups: [gid] };
	await mkdir(at('acl'), { mode: 0o755 });
	const setfacl = (...words: string[]) => promisify(execFile)('setfacl', [...words, at('acl')]);
	await setfacl('-d', '-m', `u:${uid}:rwx`);
	t.false(await isInReach(at('acl/file'), owner), 'what is handed down opens no folder');
	t.like(await stowage(['backup', at('acl/handed.zip'), ...flags]), { code: 0, stderr: '' });
	t.like(await stat(at('acl/handed.zip')), { uid: 0, mode: 0o100600 });
	const reading = promisify(execFile)('cat', [at('acl/handed.zip')], { uid, gid });
	await t.throwsAsync(reading, { message: /Permission denied/ });
	await setfacl('-m', `u:${uid}:rwx`);
	t.true(await isInReach(at('acl/file'), owner));
	await symlink('/etc/hostname', at('acl/source.zip'));
	await lchown(at('acl/source.zip'), uid, gid);
	t.true(await isInReach(at('acl/source.zip'), owner));
	await setfacl('-m', 'm::rx');
	t.false(await isInReach(at('acl/file'), owner));
	await setfacl('-b', '-m', `g:${gid}:rwx`);
	t.true(await isInReach(at('acl/file'), owner));
});

test('a named pipe in the place of a file ends a command of root with its name, and nobody waits at it', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	const [audit = ''] = await readdir(at('data/audit'));
	for (const folder of ['data/search', 'data/processes']) await mkdir(at(folder), { recursive: true });

	for (const [name, mode, command] of [
		['session.key', 0o600, ['user', 'list']],
		[`audit/${audit}`, 0o600, ['audit']],
		['stowage.db', 0o600, ['user', 'list']],
		['stowage.db-journal', 0o400, ['user', 'list']],
		['stowage.db-wal', 0o400, ['user', 'list']],
		['stowage.db-shm', 0o400, ['user', 'list']],
		['files/.stowage/root.json', 0o600, ['public', 'list']],
		['search/lock.db', 0o600, ['search', 'rebuild']],
		['processes/another', 0o600, ['root', 'add', 'more', at('data/more')]],
	] as const) {
		const file = at('data', name);
		await rename(file, at('aside')).catch(() => undefined);
		await promisify(execFile)('mkfifo', [file]);
		await chmod(file, mode);
		await chown(file, uid, gid);
		const { code, stderr, stdout } = await stowage([...command, ...flags], { timeout });
		t.true(code === 78 || code === 1, `${name}: ${code}`);
		t.true(`${stderr}${stdout}`.includes(path.basename(name)), `${name}: ${stderr}${stdout}`);
		await rm(file);
		await rename(at('aside'), file).catch(() => undefined);
	}
	// The log goes on in another file.
	await rm(at('data/audit', audit));
	await promisify(execFile)('mkfifo', [at('data/audit', audit)]);
	t.like(await stowage(['user', 'disable', 'ada', ...flags], { timeout }), { code: 0, stderr: '' });
	const [line = ''] = (await readFile(at('data/audit', audit.replace('.jsonl', '.1.jsonl')), 'utf8')).split('\n');
	t.like(JSON.parse(line), { action: 'disableUser' });
});

test('a file without an end in the place of the database, of a copy of it or of one to be filled ends a command of root at once', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	const copy = 'stowage.db.2031-02-03T04-05-06.000Z.before-0039-boats';
	const back = ['migrate', '--back', at('data', copy)];
	const { size } = await stat(at('data/stowage.db'));
	for (const [name, command, message] of [
		[copy, back, /^This is no copy of a database of Stowage\.$/],
		['copy.db', ['database', 'copy', '--to', `sqlite:${at('data/copy.db')}`], /is no database: .*copy\.db/],
		['stowage.db', ['user', 'list'], /is no database: .*stowage\.db/],
		['stowage.db', ['backup', at('one.zip')], /is no database: .*stowage\.db/],
	] as const) {
		const file = at('data', name);
		if (name === 'stowage.db') await rename(file, at('aside')).catch(() => undefined);
		await writeFile(file, '', { mode: 0o600 });
		// It takes no room, and hours to read.
		await truncate(file, 4e12);
		await chown(file, uid, gid);
		const { code, stderr } = await stowage([...command, ...flags], { timeout });
		t.true(code === 78 || code === 1, `${command[0]}: ${code}`);
		t.regex(stderr, message);
		await rm(file);
	}
	await rename(at('aside'), at('data/stowage.db'));
	for (const ending of ['', '-wal'] as const) {
		await symlink('/dev/zero', at('data', `${copy}${ending}`));
		await lchown(at('data', `${copy}${ending}`), uid, gid);
		const { code, stderr } = await stowage([...back, ...flags], { timeout });
		t.is(code, 1);
		t.is(stderr, `This is no file: ${at('data', `${copy}${ending}`)}`);
		await rm(at('data', `${copy}${ending}`));
		await writeFile(at('data', copy), await readFile(at('data/stowage.db')));
	}
	t.is((await stat(at('data/stowage.db'))).size, size);
	t.deepEqual(
		(await readdir(at('data'))).filter((name) => /going-back|replaced/.test(name)),
		[],
	);
});

test('a folder in the place of a file, and a file in that of a folder, end a command with a sentence that names it, or do not concern it', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	t.like(await stowage(['search', 'rebuild', ...flags]), { code: 0 });
	const folder = async (place: string) => void (await promisify(execFile)('install', ['-d', '-o', `${uid}`, place]));
	const file = async (place: string) => {
		await writeFile(place, 'garbage');
		await chown(place, uid, gid);
	};
	const closed = async (place: string) => {
		await file(place);
		await chmod(place, 0);
	};
	for (const [name, make, code, command, says] of [
		['processes', file, 0, ['user', 'list'], ''],
		['processes', file, 0, ['search', 'rebuild'], ''],
		[
			'search',
			file,
			1,
			['search', 'rebuild'],
			"data/search can't be used (EEXIST): something else lies there in its place.",
		],
		[
			'search/names.db-wal',
			folder,
			1,
			['search', 'rebuild'],
			"data/search/names.db-wal can't be used (EISDIR): it is a folder.",
		],
		['search/lock.db', closed, 78, ['search', 'rebuild'], "data/search/lock.db can't be opened."],
	] as const) {
		await rename(at('data', name), at('aside')).catch(() => undefined);
		await make(at('data', name));
		const { stderr, ...ended } = await stowage([...command, ...flags], { timeout });
		t.is(ended.code, code, `${name}: ${stderr}`);
		t.true(stderr.includes(says) && (says !== '' || stderr === ''), `${name}: ${stderr}`);
		t.notRegex(stderr, /node:internal|^\s+at |\{$/m, name);
		const { stdout } = await stowage(['doctor', ...flags]);
		if (name === 'processes')
			t.regex(stdout, /^error\tservers\t.*data\/processes, the list of running servers, is no folder/m);
		await rm(at('data', name), { recursive: true });
		await rename(at('aside'), at('data', name)).catch(() => undefined);
	}
});

test('a link to a name that is too long for a file, in the place of any, ends no command with a trace of the program', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	t.like(await stowage(['search', 'rebuild', ...flags]), { code: 0 });
	const tooLong = 'n'.repeat(256);
	for (const [name, code, command, says] of [
		['session.key', 78, ['user', 'list'], "session.key can't be used: it is a link that leads to no file"],
		['search', 1, ['search', 'rebuild'], "data/search can't be used (ENAMETOOLONG): its name"],
		['search/lock.db', 1, ['search', 'rebuild'], "data/search/lock.db can't be used (ENAMETOOLONG): its name"],
		['audit', 1, ['audit'], "data/audit can't be used (ENAMETOOLONG): its name"],
	] as const) {
		await rename(at('data', name), at('aside'));
		await symlink(tooLong, at('data', name));
		await lchown(at('data', name), uid, gid);
		const { stderr, ...ended } = await stowage([...command, ...flags], { timeout });
		t.is(ended.code, code, `${name}: ${stderr}`);
		t.true(stderr.includes(says), `${name}: ${stderr}`);
		t.notRegex(stderr, /node:internal|^\s+at |\{$/m, name);
		if (name === 'session.key') {
			const { stdout } = await stowage(['doctor', ...flags], { timeout });
			t.regex(stdout, /^error\tkey\t.*data\/session\.key is a link that leads to no file/m);
		}
		await rm(at('data', name));
		await rename(at('aside'), at('data', name));
	}
	for (const command of [
		['backup', at(tooLong)],
		['config', 'init', '--yes', at(tooLong)],
	]) {
		const { code, stderr } = await stowage([...command, ...flags], { timeout });
		t.is(code, 1, stderr);
		t.regex(stderr, /n{256} can't be used \(ENAMETOOLONG\): its name/);
	}
});

test('of a key that is no file doctor says so, and of one that is a link no command advises to change the mode', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	const key = at('data/session.key');
	await rename(key, at('key'));
	await promisify(execFile)('mkfifo', ['-m', '600', key]);
	await chown(key, uid, gid);
	const { stdout } = await stowage(['doctor', ...flags], { timeout });
	t.regex(stdout, /^error\tkey\t.*data\/session\.key is no file/m);
	await rm(key);
	await writeFile(at('public'), 'a file of root’s that is longer than a key has to be', { mode: 0o644 });
	await symlink(at('public'), key);
	await lchown(key, uid, gid);
	const { code, stderr } = await stowage(['user', 'list', ...flags]);
	t.is(code, 78);
	t.regex(stderr, /session\.key is a link, and others can read what it leads to \(mode 644\)/);
	t.notRegex(stderr, /set it to 600|chmod/);
});

test('what a command of root advises about a file that it can’t use gives away no other one by a link in its place', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	await writeFile(at('secret'), 'of root', { mode: 0o600 });
	await mkdir(at('closed'), { mode: 0o700 });
	for (const [name, target] of [
		['session.key', 'secret'],
		['stowage.db', 'secret'],
		['processes', 'closed'],
		['audit', 'closed'],
	] as const) {
		await rename(at('data', name), at('aside')).catch(() => undefined);
		await symlink(at(target), at('data', name));
		await lchown(at('data', name), uid, gid);
		for (const command of [['root', 'list'], ['root', 'add', `more-${name}`, at('data/more')], ['doctor'], ['audit']]) {
			const { stdout, stderr } = await stowage([...command, ...flags]);
			// Those that follow no link by themselves: `chown -h`, `chown -R`.
			t.notRegex(`${stdout}${stderr}`, /chown (?!-[hR])|\(chown\)/, `${name}: ${command.join(' ')}`);
		}
		await rm(at('data', name));
		await rename(at('aside'), at('data', name)).catch(() => undefined);
	}
});

test('a file beside the database that root left there, a link in the place of one, and a folder that is closed end a command with their names', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'list', ...flags]), { code: 0 });
	await writeFile(at('secret'), 'of root', { mode: 0o600 });
	for (const name of ['stowage.db-wal', 'stowage.db-shm', 'stowage.db-journal']) {
		const file = at('data', name);
		await writeFile(file, '', { mode: 0o600 });
		const foreign = await stowage(['user', 'list', ...flags]);
		t.is(foreign.code, 78);
		t.true(foreign.stderr.startsWith(`A file of the database cannot be used (EACCES): ${file}. `), foreign.stderr);
		t.true((await stowage(['doctor', ...flags])).stdout.includes(`${file}. `));
		await rm(file);
		for (const target of [at('nowhere/file'), at('secret')]) {
			await symlink(target, file);
			await lchown(file, uid, gid);
			const linked = await stowage(['user', 'list', ...flags]);
			t.is(linked.code, 78);
			t.is(linked.stderr, `A file of the database is a link: ${file}`);
			await rm(file);
		}
	}
	await chmod(at('data'), 0o500);
	const copied = await stowage(['database', 'copy', '--to', `sqlite:${at('data/copy.db')}`, ...flags]);
	t.is(copied.code, 1);
	t.is(
		copied.stderr,
		`The database is not available right now (SQLITE_READONLY): ${at('data/stowage.db')}, or a file that lies beside it, can't be used.`,
	);
});

test('what a command of root says of an audit log that it can’t write is a sentence, and no trace of the program', async (t) => {
	const { at, flags } = await machine(t);
	t.like(await stowage(['user', 'add', 'ada', ...flags], { input: password }), { code: 0 });
	t.like(await stowage(['backup', at('backup.zip'), ...flags]), { code: 0 });
	await mkdir(at('restored'), { mode: 0o750 });
	await chown(at('restored'), uid, gid);
	for (const folder of ['data', 'restored']) {
		await rm(at(folder, 'audit'), { recursive: true, force: true });
		// Where the owner may not write.
		await symlink('/root', at(folder, 'audit'));
		await lchown(at(folder, 'audit'), uid, gid);
	}
	const dataDir = ['--data-dir', at('data')];

	for (const command of [
		['config', 'init', at('stowage.yaml'), '--yes', ...dataDir],
		['database', 'copy', '--to', `sqlite:${at('data/copy.db')}`, ...dataDir],
		['restore', at('backup.zip'), '--data-dir', at('restored')],
		['user', 'disable', 'ada', ...dataDir],
	]) {
		const { code, stderr } = await stowage(command, { timeout });
		t.is(code, 0, `${command.join(' ')}: ${stderr}`);
		t.regex(stderr, /^Error: the audit log could not be written: entries were lost: .*audit/m, command.join(' '));
		t.notRegex(stderr, /node:internal|"stack"|^\s+at |^\{/m, command.join(' '));
	}
});

test('where root stays root it loads no plugin that somebody else may write, and goes by no such configuration', async (t) => {
	const { at } = await machine(t);
	const marker = at('ran as root');
	const module = `import { writeFileSync } from 'node:fs';
import './part.js';
writeFileSync(${JSON.stringify(marker)}, '');
export const plugin = { name: 'planted', version: '1.0.0', needs: [], needsHttp: false, options: { safeParse: (data) => ({ success: true, data }) }, start() {} };\n`;
	const dependency = at('site/node_modules/dependency');
	const folder = at('site/node_modules/planted');
	await mkdir(path.join(folder, 'lib'), { recursive: true, mode: 0o755 });
	await mkdir(dependency, { mode: 0o755 });
	await mkdir(at('own'), { mode: 0o750 });
	const files: Record<string, string> = {
		[path.join(folder, 'package.json')]: '{"name": "planted", "type": "module", "exports": "./lib/index.js"}',
		[path.join(folder, 'lib/index.js')]: module,
		[path.join(folder, 'lib/part.js')]: '',
		[path.join(dependency, 'index.js')]: '',
		[at('site/stowage.yaml')]: `dataDir: ${at('own')}\nplugins:\n  planted: {}\n`,
	};
	for (const [file, text] of Object.entries(files)) await writeFile(file, text, { mode: 0o644 });
	for (const each of [at('site'), at('site/node_modules'), folder, path.join(folder, 'lib')]) await chmod(each, 0o755);
	const flags = ['--config', at('site/stowage.yaml'), '--log-level', 'error'];
	const list = () => stowage(['user', 'list', ...flags], { timeout });
	const isRun = async () => (await readdir(at())).includes('ran as root');

	t.like(await list(), { code: 0, stderr: '' });
	t.true(await isRun());
	await rm(marker);
	const plants: [string, () => Promise<void>, () => Promise<void>][] = [];
	for (const file of [at('site'), at('site/node_modules'), dependency, folder, ...Object.keys(files)]) {
		plants.push([file, () => chown(file, uid, gid), () => chown(file, 0, 0)]);
	}
	for (const [file, open, closed] of [
		[folder, 0o777, 0o755],
		[path.join(folder, 'lib/index.js'), 0o646, 0o644],
		[at('site/stowage.yaml'), 0o646, 0o644],
	] as const) {
		plants.push([file, () => chmod(file, open), () => chmod(file, closed)]);
	}
	for (const file of [folder, at('site/stowage.yaml')]) {
		const open = async (group: number, mode: number) => [await chown(file, 0, group), await chmod(file, mode)].at(0);
		const { mode } = await stat(file);
		plants.push([file, () => open(gid, mode | 0o020), () => open(0, mode)]);
	}
	// A package of somebody else's, to which a link of root's leads, and one of theirs to what is root's.
	const elsewhere = async (owner: number) => {
		await rename(folder, at('elsewhere'));
		await symlink(at('elsewhere'), folder);
		await lchown(folder, owner, owner);
	};
	const back = async () => {
		await rm(folder);
		await rename(at('elsewhere'), folder);
		await chown(folder, 0, 0);
	};
	plants.push([folder, () => elsewhere(uid), back]);
	plants.push([at('elsewhere'), async () => [await elsewhere(0), await chown(at('elsewhere'), uid, gid)].at(0), back]);
	const all = [['user', 'list'], ['config', 'check'], ['serve', '--port', '0'], ['doctor']];
	for (const [index, [file, plant, undo]] of plants.entries()) {
		await plant();
		// The others load plugins in the same place.
		for (const command of index === 0 || file === dependency ? all : all.slice(0, 1)) {
			const { code, stdout, stderr } = await stowage([...command, ...flags], { timeout });
			const said = command[0] === 'doctor' ? stdout : stderr;
			t.is(code, command[0] === 'doctor' ? 2 : 78, `${file}: ${said}`);
			t.regex(said, /Root does not (load the plugin planted|work by the configuration file)/);
			t.true(said.includes(` for ${file} `), `${file}: ${said}`);
		}
		t.false(await isRun(), `${file} was loaded by root`);
		await undo();
	}
	t.like(await list(), { code: 0, stderr: '' });
	await rm(marker);

	// Whom root becomes, loads what is its own.
	await chown(folder, uid, gid);
	await chown(at('own'), uid, gid);
	await chmod(at(), 0o777);
	for (const name of await readdir(at('own'))) await rm(at('own', name), { recursive: true });
	t.like(await list(), { code: 0, stderr: '' });
	t.like(await stat(marker), { uid });
});

/** A site of root's with a plugin of one module, which `user list` loads. */
async function siteOfRoot(t: ExecutionContext, file: string) {
	const { at } = await machine(t);
	const plugin = `export const plugin = { name: 'planted', version: '1.0.0', needs: [], needsHttp: false, options: { safeParse: (data) => ({ success: true, data }) }, start() {} };\n`;
	for (const folder of ['own', 'site', path.dirname(file)]) await mkdir(at(folder), { recursive: true, mode: 0o755 });
	const write = (name: string, text: string) => writeFile(at(name), text, { mode: 0o644 });
	await write(file, plugin);
	await write('site/stowage.yaml', `dataDir: ${at('own')}\nplugins:\n  ${at(file)}: {}\n`);
	const list = (config = at('site/stowage.yaml'), by = program) =>
		stowage(['user', 'list', '--config', config, '--log-level', 'error'], { timeout, file: by });
	const refuses = async (why: string, by = program) => {
		const { code, stderr } = await list(at('site/stowage.yaml'), by);
		t.is(code, 78, stderr);
		t.true(stderr.includes(`, for ${why}`), `${why}: ${stderr}`);
	};
	return { at, write, list, refuses };
}

test('where root stays root, it makes no storage root where a link of somebody else leads, or could lead', async (t) => {
	const { at } = await machine(t);
	for (const name of ['own', 'theirs', 'victim']) await mkdir(at(name), { mode: 0o700 });
	await chown(at('theirs'), uid, gid);
	await symlink(at('victim'), at('theirs/link'));
	await lchown(at('theirs/link'), uid, gid);
	const add = (location: string) =>
		stowage(['root', 'add', 'big', location, '--data-dir', at('own'), '--log-level', 'error']);
	for (const location of [at('theirs/link'), at('theirs/free')]) {
		const { code, stderr } = await add(location);
		t.is(code, 1, stderr);
		t.true(
			stderr.startsWith(`Root makes no storage root in ${location}, for ${at('theirs')} belongs to user ${uid}: `),
			stderr,
		);
	}
	t.deepEqual(await readdir(at('victim')), []);
	t.deepEqual(await readdir(at('theirs')), ['link']);
	// A folder of theirs that nobody can exchange.
	t.like(await add(at('theirs')), { code: 0 });
});

test('where root stays root, it opens no database that is somebody else’s, or that others could put there', async (t) => {
	const { at } = await machine(t);
	for (const name of ['own', 'closed', 'theirs', 'shared']) await mkdir(at(name), { mode: 0o755 });
	await chown(at('theirs'), uid, gid);
	await chmod(at('shared'), 0o1777);
	const data = ['--data-dir', at('own'), '--log-level', 'error'];
	const call = (command: string[], database: string) =>
		stowage([...command, ...data, '--database-url', `sqlite:${database}`], { timeout });
	const refused = async (database: string, why: string, ...commands: string[][]) => {
		for (const command of [['user', 'list'], ...commands]) {
			const { code, stderr } = await call(command, database);
			t.is(code, 78, stderr);
			t.true(stderr.startsWith(`Root does not work on the database ${database}, for ${why}: `), stderr);
			const isBelongs = why.includes('belongs');
			t.true(
				stderr.includes(isBelongs ? `, or give that to root (chown -h root ${why.split(' ')[0]}).` : 'mkdir -m 700'),
			);
			t.false(stderr.includes('chmod go-w'), 'a sticky folder stays open');
		}
	};
	const main = at('closed/main.db');
	t.like(await call(['user', 'list'], main), { code: 0 });
	await refused(at('theirs/main.db'), `${at('theirs')} belongs to user ${uid}`, ['serve', '--port', '0'], ['migrate']);
	await refused(at('shared/main.db'), `${at('shared')} can be written by everybody`);
	await refused(at('shared/new/main.db'), `${at('shared')} can be written by everybody`);
	t.deepEqual([await readdir(at('theirs')), await readdir(at('shared'))], [[], []]);
	for (const name of ['main.db', 'main.db-journal', 'main.db-wal', 'main.db-shm']) {
		await appendFile(at('closed', name), '');
		await chown(at('closed', name), uid, gid);
		await refused(main, `${at('closed', name)} belongs to user ${uid}`);
		await (name === 'main.db' ? chown(main, 0, 0) : rm(at('closed', name)));
	}
	await symlink(main, at('own/link.db'));
	t.like(await call(['user', 'list'], at('own/link.db')), { code: 0 }, 'a link of root’s is followed');
	await lchown(at('own/link.db'), uid, gid);
	await refused(at('own/link.db'), `${at('own/link.db')} belongs to user ${uid}`);
	await symlink(at('theirs/main.db'), at('own/led.db'));
	await writeFile(at('theirs/main.db'), '');
	await refused(at('own/led.db'), `${at('theirs')} belongs to user ${uid}`);

	// A data folder may be open to others, as all of a shared disk is, and then a folder in it is no worse than it.
	for (const name of ['open', 'open/db', 'open/theirs']) {
		await mkdir(at(name));
		await chmod(at(name), 0o777);
	}
	await chown(at('open/theirs'), uid, gid);
	await symlink(at('open'), at('link'));
	await symlink(at('theirs'), at('open/led'));
	const inside = (folder: string, name: string) =>
		stowage(['user', 'list', '--data-dir', at(folder), '--database-url', `sqlite:${at(name)}`, '--log-level', 'error']);
	for (const [folder, name] of [
		['open', 'open/db/main.db'],
		['open', 'open/db/new/main.db'],
		['link', 'link/db/main.db'],
		['link', 'open/db/main.db'],
	] as const)
		t.not((await inside(folder, name)).code, 78, name);
	for (const name of ['open/theirs/main.db', 'open/led/main.db']) {
		const { code, stderr } = await inside('open', name);
		t.is(code, 78, stderr);
		t.regex(stderr, /^Root does not work on the database .*theirs belongs to user /);
	}

	// What is made beforehand by somebody else, who could read all that root copies into it.
	await writeFile(at('shared/new.db'), '', { mode: 0o666 });
	await chown(at('shared/new.db'), uid, gid);
	for (const name of ['shared/new.db', 'shared/free.db', 'theirs/free.db']) {
		const { code, stderr } = await call(['database', 'copy', '--to', `sqlite:${at(name)}`], main);
		t.is(code, 78, stderr);
		t.true(stderr.startsWith(`Root does not work on the database ${at(name)}, for `), stderr);
	}
	t.is((await stat(at('shared/new.db'))).size, 0);
	t.deepEqual([await readdir(at('theirs')), await readdir(at('shared'))], [['main.db'], ['new.db']]);
	t.like(await call(['database', 'copy', '--to', `sqlite:${at('closed/copy.db')}`], main), { code: 0 });
});

test('where root stays root, it makes neither the first storage root nor its socket where somebody else could lead it', async (t) => {
	const { at } = await machine(t);
	for (const name of ['own', 'theirs', 'victim']) await mkdir(at(name), { mode: 0o700 });
	await symlink(at('victim'), at('theirs/link'));
	for (const place of ['theirs/link', 'theirs']) await lchown(at(place), uid, gid);
	const flags = ['--data-dir', at('own'), '--log-level', 'error'];
	for (const root of [at('theirs/link/new'), at('theirs/new')]) {
		const plugins = JSON.stringify({ '@stowage/storage-local': { root } });
		const { code, stdout } = await stowage(['root', 'check', '--json', ...flags, '--plugins', plugins]);
		t.is(code, 1, stdout);
		const reason = `Root makes no storage root in ${root}, for ${at('theirs')} belongs to user ${uid}: `;
		t.true(stdout.includes(JSON.stringify(reason).slice(1, -1)), stdout);
	}
	const listen = `unix:${at('theirs/link/stowage.sock')}`;
	const { code, stderr } = await stowage(['serve', '--listen', listen, ...flags], { timeout });
	t.is(code, 78, stderr);
	t.true(stderr.startsWith(`Root does not listen at the socket ${listen.slice(5)}, for ${at('theirs')} `), stderr);
	t.deepEqual([await readdir(at('victim')), await readdir(at('theirs'))], [[], ['link']]);
	t.like(await stowage(['root', 'check', ...flags]), { code: 0 });
});

test('where root stays root, it works on no data folder that somebody else could exchange meanwhile', async (t) => {
	const { at } = await machine(t);
	const list = (dataDir: string) => stowage(['user', 'list', '--data-dir', dataDir, '--log-level', 'error']);
	await mkdir(at('above/within/own'), { recursive: true, mode: 0o755 });
	for (const folder of ['above', 'above/within', 'above/within/own']) await chmod(at(folder), 0o755);
	const own = at('above/within/own');
	t.like(await list(own), { code: 0 });
	for (const [why, plant, undo] of [
		[`${at('above')} belongs to user ${uid}`, () => chown(at('above'), uid, gid), () => chown(at('above'), 0, 0)],
		[
			`${at('above/within')} can be written by everybody`,
			() => chmod(at('above/within'), 0o777),
			() => chmod(at('above/within'), 0o755),
		],
	] as const) {
		await plant();
		for (const command of [['user', 'list'], ['serve', '--port', '0'], ['audit'], ['migrate']]) {
			const { code, stderr } = await stowage([...command, '--data-dir', own], { timeout });
			t.is(code, 78, stderr);
			t.true(stderr.startsWith(`Root does not work on the data folder ${own}, for ${why}: `), stderr);
		}
		t.is((await stowage(['doctor', '--data-dir', own])).code, 2);
		await undo();
	}
	// What is root's can be exchanged by nobody in a sticky folder, and what lies in the data folder is its own affair.
	await chmod(at('above/within'), 0o1777);
	await chmod(own, 0o777);
	t.like(await list(own), { code: 0 });
	// One that is missing there is made at once, as root's alone, before somebody else could make it, as a link.
	const absent = at('above/within/absent');
	t.like(await list(path.join(absent, 'data')), { code: 0 });
	const made = await lstat(absent);
	t.deepEqual([made.isDirectory(), made.uid, made.mode & 0o7777], [true, 0, 0o700]);
	// But a link there leads root to where its owner wants.
	await mkdir(at('victim'), { mode: 0o700 });
	await rm(path.join(own, 'audit'), { recursive: true, force: true });
	await symlink(at('victim'), path.join(own, 'audit'));
	t.like(await stowage(['user', 'add', 'ada', '--data-dir', own], { input: password }), { code: 0 });
	const before = await readdir(at('victim'));
	t.is(before.length, 1, 'a link of root’s is followed');
	await lchown(path.join(own, 'audit'), uid, gid);
	for (const command of [
		['user', 'remove', 'ada'],
		['serve', '--port', '0'],
	]) {
		const { code, stderr } = await stowage([...command, '--data-dir', own], { timeout });
		t.is(code, 78, stderr);
		t.true(stderr.includes(`${path.join(own, 'audit')} is a link of one of them`), stderr);
	}
	t.deepEqual(await readdir(at('victim')), before);
	await rm(path.join(own, 'audit'));
	// One that is missing.
	await chmod(at('above/within'), 0o777);
	t.is((await list(at('above/within/missing'))).code, 78);
	// Whom root becomes then, may do it.
	await chown(own, uid, gid);
	await promisify(execFile)('chown', ['-R', `${uid}:${gid}`, own]);
	t.like(await list(own), { code: 0 });
});

test('config init of root replaces no file of root’s to which somebody else’s link leads, and no command reads a configuration of gigabytes', async (t) => {
	const { at } = await machine(t);
	await writeFile(at('hosts.allow'), '# only comments\n', { mode: 0o644 });
	await mkdir(at('data/links'));
	for (const [link, target] of [
		['data/site.yaml', 'hosts.allow'],
		['data/links/way', ''],
	] as const) {
		await symlink(at(target), at(link));
		await lchown(at(link), uid, gid);
	}
	for (const [file, link] of [
		['data/site.yaml', 'data/site.yaml'],
		['data/links/way/hosts.allow', 'data/links/way'],
	] as const) {
		const { code, stderr } = await stowage(['config', 'init', at(file), '--yes']);
		t.is(code, 78);
		t.regex(
			stderr,
			/ is a link of user 47430, which root does not follow: name the file itself, or run this as its owner\.$/,
		);
		t.true(stderr.startsWith(at(link)), stderr);
	}
	t.is(await readFile(at('hosts.allow'), 'utf8'), '# only comments\n');
	t.deepEqual((await readdir(at())).sort(), ['data', 'hosts.allow']);
	// Root's own is followed.
	await symlink(at('hosts.allow'), at('site.yaml'));
	t.like(await stowage(['config', 'init', at('site.yaml'), '--yes']), { code: 0 });

	await writeFile(at('large.yaml'), '');
	await truncate(at('large.yaml'), 20 * 1024 ** 3);
	for (const [file, command] of [
		[at('large.yaml'), ['config', 'init', at('large.yaml'), '--yes']],
		[at('large.yaml'), ['user', 'list', '--config', at('large.yaml')]],
		['/dev/zero', ['user', 'list', '--config', '/dev/zero']],
	] as const) {
		const { code, stderr } = await stowage(command);
		t.is(code, 78);
		t.is(stderr, `The configuration file ${file} has more than 4194304 bytes.`);
	}
});

test('root’s own group may write what root loads, and a socket beside it is nothing that is loaded', async (t) => {
	const { at, list } = await siteOfRoot(t, 'site/plugin.mjs');
	for (const file of ['site/stowage.yaml', 'site/plugin.mjs']) await chmod(at(file), 0o664);
	await chmod(at('site'), 0o775);
	const server = createServer().listen(at('site/socket'));
	t.teardown(() => server.close());
	await once(server, 'listening');
	await chmod(at('site/socket'), 0o666);
	t.like(await list(), { code: 0, stderr: '' });
});

test('where root stays root, a plugin without a package.json is examined with all in its folder but the data folder', async (t) => {
	const { at, write, list, refuses } = await siteOfRoot(t, 'site/plugin.mjs');
	await write('site/part.mjs', '');
	await chown(at('site/part.mjs'), uid, gid);
	await refuses(`${at('site/part.mjs')} belongs to user ${uid}`);
	await rename(at('site/part.mjs'), at('own/part.mjs'));
	await rename(at('own'), at('site/data'));
	await symlink(at('site/data'), at('own'));
	t.like(await list(), { code: 0, stderr: '' });
});

test('where root stays root, the way of every link in a plugin’s package is examined, whether it leads back, elsewhere or nowhere', async (t) => {
	const { at, write, list, refuses } = await siteOfRoot(t, 'site/pack/index.mjs');
	await write('site/pack/package.json', '{"type": "module"}');
	await mkdir(at('theirs'), { mode: 0o755 });
	await mkdir(at('sticky'));
	await chmod(at('sticky'), 0o1777);
	const lead = async (target: string, through = target) => {
		await rm(at('site/pack/link'), { force: true });
		await rm(at('theirs/link'), { force: true });
		await symlink(target, at('theirs/link'));
		await symlink(through, at('site/pack/link'));
	};
	await lead(at('site/pack/index.mjs'));
	t.like(await list(), { code: 0, stderr: '' });
	await lead(at('site/missing/file'));
	t.like(await list(), { code: 0, stderr: '' });
	await chown(at('theirs'), uid, gid);
	for (const target of [at('site/pack/index.mjs'), at('site'), at('site/missing')]) {
		await lead(target, at('theirs/link'));
		await refuses(`${at('theirs')} belongs to user ${uid}`);
	}
	await lead(at('sticky/missing'));
	await refuses(`${at('sticky/missing')}, to which ${at('site/pack/link')} leads, can be made by others`);
});

test('where root stays root, a package that lies beside the program’s own folder is examined with all that is in it', async (t) => {
	const { at, write, list, refuses } = await siteOfRoot(t, 'site/plugin.mjs');
	// Other tests examine the program of this clone meanwhile.
	await mkdir(at('program/cli'), { recursive: true, mode: 0o755 });
	for (const name of ['bin', 'dist', 'package.json'])
		await cp(path.resolve('cli', name), at(`program/cli/${name}`), { recursive: true });
	await symlink(path.resolve('node_modules'), at('program/node_modules'));
	const own = at('program/cli/bin/stowage.js');
	const folder = at('program/cli/dist/planted');
	await mkdir(folder, { mode: 0o755 });
	await rename(at('site/plugin.mjs'), path.join(folder, 'plugin.mjs'));
	for (const name of ['package.json', 'part.mjs']) await writeFile(path.join(folder, name), '{}', { mode: 0o644 });
	await write('site/stowage.yaml', `dataDir: ${at('own')}\nplugins:\n  ${path.join(folder, 'plugin.mjs')}: {}\n`);
	t.like(await list(undefined, own), { code: 0, stderr: '' });
	await chown(path.join(folder, 'part.mjs'), uid, gid);
	await refuses(`${path.join(folder, 'part.mjs')} belongs to user ${uid}`, own);
});

test('what a shell passes by a descriptor is its own, and no other file below /dev or /proc', async (t) => {
	const { at, list } = await siteOfRoot(t, 'site/plugin.mjs');
	const shared = await mkdtemp('/dev/shm/stowage-');
	t.teardown(() => rm(shared, { recursive: true, force: true }));
	await chmod(shared, 0o1777);
	const text = `dataDir: ${at('own')}\n`;
	for (const file of [path.join(shared, 'stowage.yaml'), at('theirs.yaml')]) {
		await writeFile(file, text, { mode: 0o644 });
		t.like(await list(file), { code: 0, stderr: '' });
		await chown(file, uid, gid);
		for (const config of [file, path.join(`/proc/${process.pid}/root`, file)]) {
			const { code, stderr } = await list(config);
			t.is(code, 78, stderr);
			t.true(stderr.includes(`, for ${file} belongs to user ${uid}`), stderr);
		}
	}
	const run = `${process.execPath} ${program} user list --log-level error --config`;
	for (const command of [`${run} <(cat ${at('theirs.yaml')})`, `cat ${at('theirs.yaml')} | ${run} /dev/stdin`]) {
		const { exitCode, stderr } = await execa('bash', ['-c', command], { reject: false, env: { NODE_OPTIONS: '' } });
		t.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: '' }, command);
	}
});

test('root goes by a configuration of anybody’s on a read-only mount, unless others may see it without that mount', async (t) => {
	const { at } = await siteOfRoot(t, 'site/plugin.mjs');
	await mkdir(at('mounted'));
	await mkdir(at('theirs'), { mode: 0o755 });
	await writeFile(at('theirs/stowage.yaml'), `dataDir: ${at('own')}\n`, { mode: 0o644 });
	await chown(at('theirs/stowage.yaml'), uid, gid);
	/** As in a container, whose first process has the same mounts, or as in a service with mounts of its own. */
	const list = async (kind: 'container' | 'service', mount: string) => {
		const words = kind === 'container' ? ['--pid', '--fork', '--mount-proc'] : [];
		const run = `exec ${process.execPath} ${program} user list --log-level error --config mounted/stowage.yaml`;
		const command = `${mount} && ${run}`;
		const options = { reject: false, cwd: at(), timeout, env: { NODE_OPTIONS: '' } } as const;
		const { exitCode, stderr } = await execa('unshare', ['--mount', ...words, 'sh', '-c', command], options);
		return { exitCode, stderr };
	};
	const volume = (options: string) =>
		`mount -t tmpfs -o mode=0777 tmpfs mounted && cp -p theirs/stowage.yaml mounted && mount -o remount,${options} mounted`;
	const message = `Root does not work by the configuration file ${at('mounted/stowage.yaml')}, for ${at('mounted')}`;
	t.deepEqual(await list('container', volume('ro')), { exitCode: 0, stderr: '' });
	for (const [kind, mount] of [
		['container', volume('rw')],
		['service', volume('ro')],
		['container', 'mount --bind theirs mounted && mount -o remount,bind,ro mounted'],
	] as const) {
		const { exitCode, stderr } = await list(kind, mount);
		t.is(exitCode, 78, `${kind}, ${mount}: ${stderr}`);
		t.true(stderr.startsWith(message), stderr);
	}
});
