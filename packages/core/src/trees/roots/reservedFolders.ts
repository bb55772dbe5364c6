import os from 'node:os';
import path from 'node:path';
import { auditFolder } from '../../audit/auditFolder.js';
import {
	conversionsFolder,
	diskUseFolder,
	processesFolder,
	searchFolder,
	thumbnailFolder,
} from '../../config/dataDir.js';
import type { Config } from '../../config/schema.js';
import type { ReservedFolder } from './assertApart.js';

/** Folders of the system: a storage root may neither be one of them, nor contain one, nor lie inside one. */
const closed = [
	...[
		'/bin',
		'/boot',
		'/etc',
		'/lib',
		'/lib32',
		'/lib64',
		'/libx32',
		'/proc',
		'/root/.config',
		'/root/.ssh',
		'/sbin',
		'/sys',
	],
	...['/usr', '/var/cache', '/var/spool'],
];

/** Folders of the system that a storage root may neither be nor contain. It may lie below one, where a disk may be mounted. */
const shared = ['/', '/dev', '/home', '/opt', '/root', '/run', '/tmp', '/var', '/var/lib', '/var/log', '/var/tmp'];

/** Folders in which the server keeps what is no user's file. */
export function serverFolders({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): ReservedFolder[] {
	const database = databaseUrl.startsWith('sqlite:') ? [path.dirname(databaseUrl.slice('sqlite:'.length))] : [];
	return [
		{ location: auditFolder(dataDir), what: 'the audit log', allowsBelow: false },
		{ location: thumbnailFolder(dataDir), what: 'the cache of thumbnails', allowsBelow: false },
		{ location: searchFolder(dataDir), what: 'the search index', allowsBelow: false },
		{ location: processesFolder(dataDir), what: 'the list of running servers', allowsBelow: false },
		{ location: diskUseFolder(dataDir), what: 'the list of uploads under way', allowsBelow: false },
		{ location: conversionsFolder(dataDir), what: 'the notes of conversions', allowsBelow: false },
		{ location: dataDir, what: 'the data folder', allowsBelow: true },
		...database.map((location) => ({ location, what: 'the folder of the database', allowsBelow: true })),
		{ location: os.tmpdir(), what: 'the folder of temporary files', allowsBelow: true },
	];
}

/**
 * Folders that a storage root may neither be nor hold: it would serve what is not a user's file, and remove what it
 * takes for an upload of its own.
 */
export function reservedFolders(config: Pick<Config, 'dataDir' | 'databaseUrl'>): ReservedFolder[] {
	return [
		...serverFolders(config),
		...closed.map((location) => ({ location, what: 'a folder of the system', allowsBelow: false })),
		...shared.map((location) => ({ location, what: 'a folder of the system', allowsBelow: true })),
	];
}
