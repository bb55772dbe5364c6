import {
	type Config,
	createLog,
	hasInspection,
	openCommandServices,
	runAlone,
	type Services,
	shellCommand,
	shellWord,
	type UnusableItem,
	type UnusableReason,
} from '@stowage/core';
import { Failure, homeRoot, isFailure, plural, rootPath } from '@stowage/rules';
import { asDataOwner, asThisUser, type Finding, fault, ok, reasonOf, warn } from './findings.js';

/** Further ones of a kind are counted. */
const maxNamed = 50;

/** What is examined. */
export interface FilesScope {
	/** Only the home of this account. */
	user?: string | undefined;
	/** Only this storage root. */
	root?: string | undefined;
	/** Whether all are named. */
	all?: boolean | undefined;
}

/** A finding about one item. `path` is what people read; `bytes` has it exactly, in base64, where it is no UTF-8. */
interface FileFinding extends Finding {
	root: string;
	path?: string;
	bytes?: string;
}

const subjects: Readonly<Record<UnusableReason['kind'], string>> = {
	unreadable: 'unreadable',
	unwritable: 'unwritable',
	name: 'unusable name',
	link: 'link',
	special: 'special file',
	damaged: 'damaged',
	depth: 'too deep',
};

/**
 * The items in the storage roots that the user of this process can't use, each with the command that corrects it, as
 * they are found. Throws Failure for an unknown root or account.
 */
export async function* checkFiles(config: Config, scope: FilesScope): AsyncGenerator<Finding | FileFinding> {
	// Its log messages are shown as findings here.
	const log = createLog('error');
	log.level = 'silent';
	const app = await openCommandServices(config, { log });
	try {
		yield* examine(app.services, scope);
	} finally {
		await app.stop();
	}
}

async function* examine(
	{ roots, accounts }: Pick<Services, 'roots' | 'accounts'>,
	{ user, root, all = false }: FilesScope,
): AsyncGenerator<Finding | FileFinding> {
	const mounts = roots.all().filter(({ name }) => root === undefined || name === root);
	if (mounts.length === 0) throw new Failure('notFound', `There is no storage root named ${root}.`);
	if (user !== undefined) await accounts.find(user);
	const folder = user === undefined ? rootPath : homeRoot(user);
	const service = await ownAccount();
	const counts = new Map<string, number>();
	for (const { name, storage } of mounts) {
		if (!hasInspection(storage)) {
			yield ok('files', `${name}: its storage can’t tell what other programs put into it`);
			continue;
		}
		let inspected = 0;
		let unusable = 0;
		try {
			for await (const batch of storage.findUnusable(folder)) {
				inspected += batch.inspected;
				unusable += batch.unusable.length;
				for (const item of batch.unusable) {
					const subject = subjects[item.reason.kind];
					const count = (counts.get(subject) ?? 0) + 1;
					counts.set(subject, count);
					if (all || count <= maxNamed) yield findingOf(item, name, service);
				}
			}
			const faults = unusable === 0 ? 'all can be used' : `${plural(unusable, 'fault')}, see above`;
			yield ok('files', `${name}: ${plural(inspected, 'item')} examined, ${faults}`);
		} catch (error) {
			// Homes are on one root each.
			if (isFailure(error, 'notFound') && user !== undefined) continue;
			yield fault('files', `${name}: ${reasonOf(error)}`, 'stowage root check says what is wrong with a root.');
		}
	}
	if (all) return;
	for (const [subject, count] of counts) {
		if (count > maxNamed)
			yield warn(subject, `and ${count - maxNamed} more`, 'stowage doctor --files --all names all of them.');
	}
}

interface Account {
	uid: number;
	/** `user:group`, as chown takes it. */
	name: string;
}

/** Whom the files have to belong to: the user that this process has become. */
async function ownAccount(): Promise<Account> {
	const uid = process.geteuid?.() ?? 0;
	const nameOf = async (option: '-un' | '-gn', number: number) => {
		try {
			return (await runAlone('id', [option])).stdout.trim() || String(number);
		} catch {
			// A number without a name, as in a container.
			return String(number);
		}
	};
	const [user, group] = await Promise.all([nameOf('-un', uid), nameOf('-gn', process.getegid?.() ?? 0)]);
	return { uid, name: `${user}:${group}` };
}

function findingOf({ location, type, reason }: UnusableItem, root: string, service: Account): FileFinding {
	const path = Buffer.from(location);
	const text = path.toString();
	const isExact = Buffer.from(text).equals(path);
	const thing = type === 'directory' ? 'folder' : 'file';
	const message = `${isExact ? text : shellWord(path)}: ${problemOf(reason, thing)}`;
	const finding = warn(subjects[reason.kind], message, remedyOf(reason, thing, path, service));
	return { ...finding, root, path: text, ...(isExact ? {} : { bytes: path.toString('base64') }) };
}

function problemOf(reason: UnusableReason, thing: 'file' | 'folder'): string {
	switch (reason.kind) {
		case 'unreadable':
			return `the server may not ${thing === 'folder' ? 'list and enter this folder' : 'read this file'} (${modeOf(reason)})`;
		case 'unwritable':
			return `in this folder the server may not make, rename or remove anything (${modeOf(reason)})`;
		case 'name':
			return `this ${thing} is not shown, since its name ${nameFaults[reason.fault]}`;
		case 'link':
			return 'a symbolic link, which is left out';
		case 'special':
			return 'neither file nor folder, and left out';
		case 'damaged':
			return 'the file system can’t tell what it is: its disk is damaged or does not answer';
		case 'depth':
			return 'what is in this folder is not shown, since too many folders lie within each other';
	}
}

const nameFaults = {
	encoding: 'is no UTF-8',
	characters: 'has a control character or a backslash',
	length: 'is too long',
} as const;

function modeOf({ owner, mode }: { owner: number; mode: number }): string {
	return owner < 0 ? 'in a folder that it may not enter' : `user ${owner}, mode ${(mode & 0o7777).toString(8)}`;
}

function remedyOf(reason: UnusableReason, thing: 'file' | 'folder', path: Buffer, service: Account): string {
	switch (reason.kind) {
		case 'unreadable':
		case 'unwritable': {
			const [mode, bits] = thing === 'folder' ? ['u+rwx', 0o700] : ['u+rw', 0o600];
			if (reason.owner === service.uid) return asDataOwner(shellCommand`chmod ${mode} ${path}`);
			return givingCommand(path, service, (reason.mode & bits) === bits ? undefined : mode);
		}
		case 'name': {
			if (reason.freeName === undefined) return 'Rename it by hand.';
			const folder = path.subarray(0, path.lastIndexOf('/') + 1);
			return asDataOwner(shellCommand`mv -nT ${path} ${Buffer.concat([folder, Buffer.from(reason.freeName)])}`);
		}
		case 'link':
			return 'Put what it leads to in its place, or mount that there: mount --bind. Links are never followed.';
		case 'special':
			return 'Remove it, unless another program needs it.';
		case 'damaged':
			return 'Look into the log of the system (dmesg), and check the file system of the disk.';
		case 'depth':
			return 'Move one of the folders above it further up.';
	}
}

/**
 * What root gives away, by name: the service may exchange each folder on the way for a link meanwhile, so that `chown` of the whole path
 * would give away what lies elsewhere. The shell goes to the folder first, and the system says which one that was; from then on it is the
 * same, whatever lies at its path. With -h, since a link may lie in the place of the item, too. Its mode is changed by its new owner.
 */
function givingCommand(path: Buffer, { name }: Account, mode: string | undefined): string {
	const end = path.lastIndexOf('/');
	const folder = path.subarray(0, Math.max(end, 1));
	const item = Buffer.concat([Buffer.from('./'), path.subarray(end + 1)]);
	const chown = shellCommand`cd ${folder} && [ "$(/bin/pwd -P)" = ${folder} ] && chown -h ${name} ${item}`;
	return `(${mode === undefined ? chown : `${chown} && ${asThisUser(shellCommand`chmod ${mode} ${item}`)}`})`;
}
