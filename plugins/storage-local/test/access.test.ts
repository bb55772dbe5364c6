import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStorageDriver } from '@stowage/storage-local';
import test, { type ExecutionContext } from 'ava';
import type { LocalStorage } from '../src/LocalStorage.js';
import { coldCalls } from './coldCalls.js';
import { best, isRoot, p, put } from './steps.js';

const service = 65534;
/** A group that the service is a member of, as a family's may be. */
const family = 60_001;
/** One that it is no member of, though it may write to its folders. */
const strangers = 60_002;

const place = mkdtempSync(join(tmpdir(), 'stowage-access-'));
test.after.always(() => {
	process.seteuid?.(0);
	rmSync(place, { recursive: true, force: true });
});

const setfacl = (...args: string[]) => execFileSync('setfacl', args);
const getfacl = (path: string) =>
	execFileSync('getfacl', ['--absolute-names', '--omit-header', '--numeric', path], { encoding: 'utf8' });

/** What others than the service's user may do with an object. */
function accessOf(path: string) {
	const { mode, gid } = statSync(path);
	return { mode: (mode & 0o7777).toString(8), gid, acl: getfacl(path) };
}

const folders: Readonly<Record<string, (path: string) => void>> = {
	plain: () => {},
	setgid(path) {
		chownSync(path, service, family);
		chmodSync(path, 0o2775);
	},
	'default ACL'(path) {
		setfacl('--modify', `default:user::rwx,default:group::r-x,default:group:${family}:rwx,default:other::---`, path);
	},
	'default ACL without named groups'(path) {
		setfacl('--modify', 'default:user::rwx,default:group::rwx,default:other::r-x', path);
	},
	'setgid and default ACL'(path) {
		chownSync(path, service, family);
		chmodSync(path, 0o2770);
		setfacl('--modify', 'default:group::rwx,default:user:60003:r-x', path);
	},
};

/** From here on this process has the rights of the service: those of no privileges, and of a member of the family's group. */
function becomeService(umask: number): void {
	process.umask(umask);
	process.setgroups?.([family]);
	process.setegid?.(service);
	process.seteuid?.(service);
}

function becomeRoot() {
	process.seteuid?.(0);
	process.setegid?.(0);
}

const inherits = test.macro(async (t: ExecutionContext, umask: number, calls: typeof best) => {
	t.true(isRoot, 'only root can make files of other groups');
	const root = join(place, `${umask}-${Math.random()}`);
	const prepare = (...names: string[]) => {
		for (const name of names) {
			const path = join(root, name);
			mkdirSync(path, { recursive: true });
			chownSync(path, service, service);
			folders[name]?.(path);
		}
	};
	prepare('', ...Object.keys(folders));
	chmodSync(place, 0o755);
	becomeService(umask);
	const storage = (await localStorageDriver(root, { calls }).open(undefined)) as LocalStorage;
	t.teardown(() => storage.close());
	try {
		await put(storage, 'file', 'x');
		await storage.makeDirectory(p('tree'));
		await storage.makeDirectory(p('tree/inner'));
		await put(storage, 'tree/inner/file', 'x');
		for (const name of Object.keys(folders)) {
			const inside = (...names: string[]) => join(root, name, ...names);
			writeFileSync(inside('expected'), 'x');
			mkdirSync(inside('expected tree/inner'), { recursive: true });
			writeFileSync(inside('expected tree/inner/file'), 'x');
			await put(storage, `${name}/uploaded`, 'x');
			await storage.copy(p('file'), p(`${name}/copied`));
			await storage.copy(p('tree'), p(`${name}/copied tree`));
			await storage.makeDirectory(p(`${name}/made`));
			for (const file of ['uploaded', 'copied'])
				t.deepEqual(accessOf(inside(file)), accessOf(inside('expected')), `${name}/${file}`);
			for (const folder of ['copied tree', 'made'])
				t.deepEqual(accessOf(inside(folder)), accessOf(inside('expected tree')), `${name}/${folder}`);
			for (const below of ['inner', 'inner/file'])
				t.deepEqual(
					accessOf(inside('copied tree', below)),
					accessOf(inside('expected tree', below)),
					`${name}: ${below}`,
				);
		}
	} finally {
		becomeRoot();
	}
});

for (const umask of [0o022, 0o077]) {
	const digits = umask.toString(8).padStart(3, '0');
	test.serial(
		`what is published into a folder has the group and ACL of what is made there, with umask ${digits}`,
		inherits,
		umask,
		best,
	);
	test.serial(`the same without cached metadata, with umask ${digits}`, inherits, umask, coldCalls(best));
}

test.serial('a file is published into the folder of a group that the service is no member of', async (t) => {
	const root = join(place, 'strangers');
	mkdirSync(join(root, 'theirs'), { recursive: true });
	chownSync(root, service, service);
	chownSync(join(root, 'theirs'), 0, strangers);
	chmodSync(join(root, 'theirs'), 0o2777);
	becomeService(0o027);
	try {
		const storage = (await localStorageDriver(root).open(undefined)) as LocalStorage;
		await put(storage, 'theirs/uploaded', 'x');
		await storage.close();
		t.like(accessOf(join(root, 'theirs/uploaded')), { mode: '640', gid: service });
	} finally {
		becomeRoot();
	}
});
