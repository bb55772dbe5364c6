import { execFile } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { serveArgs, startServer } from '../../test/serverProcess.js';
import { dropPrivileges } from '../src/privileges/dropPrivileges.js';
import { explain } from '../src/terminal/explain.js';
import { program } from './program.js';

/** Some user that no machine has. */
const uid = 47_420;
const gid = 47_421;

test('a server started as root in a container becomes the user of PUID and PGID, and its files have the modes of UMASK', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-container-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const data = path.join(folder, 'data');
	await mkdir(data);
	for (const each of [folder, data]) await chown(each, uid, gid);
	const server = await startServer(t, {
		args: serveArgs(data),
		env: { PUID: String(uid), PGID: String(gid), UMASK: '007' },
	});
	const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
	t.regex(status, new RegExp(`^Uid:(\\t${uid}){4}$`, 'm'));
	t.regex(status, new RegExp(`^Gid:(\\t${gid}){4}$`, 'm'));
	t.regex(status, new RegExp(`^Groups:\\t${gid} ?$`, 'm'));
	const form = new FormData();
	form.append('file', new Blob(['fox']), 'fox.txt');
	t.is((await fetch(`${server.url}/api/upload/public`, { method: 'POST', body: form })).status, 200);
	const visitors = path.join(data, 'files/users/anonymous/Public');
	t.like(await stat(path.join(visitors, 'fox.txt')), { uid, gid, mode: 0o100660 });
	t.like(await stat(visitors), { uid, gid, mode: 0o40770 });
	t.like(await stat(path.join(data, 'stowage.db')), { uid, mode: 0o100600 }, 'no other user may read the database');
});

test('the setting umask takes precedence over the variable UMASK', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-container-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const server = await startServer(t, { args: serveArgs(folder, '--umask', '027'), env: { UMASK: '000' } });
	t.regex(await readFile(`/proc/${server.pid}/status`, 'utf8'), /^Umask:\t0027$/m);
});

test('an invalid PUID or UMASK, or a PUID without root, stops the start', async (t) => {
	// Each is refused before anything of this process is changed.
	const refusal = (env: Record<string, string>) => {
		const { message, code } = explain(t.throws(() => dropPrivileges(env)));
		t.is(code, 78);
		return String(message);
	};
	t.is(refusal({ PUID: 'ada' }), 'PUID must be the number of a user or group and not 0, not ada.');
	t.regex(refusal({ PUID: '0' }), /^PUID must be/);
	t.regex(refusal({ PUID: '5', UMASK: '9' }), /^UMASK must be/);
	const command = [`--reuid=${uid}`, '--clear-groups', process.execPath, program, 'config', 'check'];
	const failed = await t.throwsAsync(
		promisify(execFile)('setpriv', command, { env: { ...process.env, NODE_OPTIONS: '', PUID: '5' } }),
	);
	const { code, stderr } = failed as Error & { code?: number; stderr?: string };
	t.is(code, 78);
	t.regex(stderr ?? '', /^Only root can become the user of PUID \(5\)/);
});

test('a container without the capabilities to become the user of PUID says so', async (t) => {
	const command = ['--bounding-set=-setuid,-setgid', process.execPath, program, 'config', 'check'];
	const failed = await t.throwsAsync(
		promisify(execFile)('setpriv', command, { env: { ...process.env, NODE_OPTIONS: '', PUID: '5' } }),
	);
	const { code, stderr } = failed as Error & { code?: number; stderr?: string };
	t.is(code, 78);
	t.regex(
		stderr ?? '',
		/^PUID is 5, and this process can't become that user \(EPERM\): run it as user 5, or with .*\n$/,
	);
});
