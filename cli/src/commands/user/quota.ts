import { parseByteSize, type Services } from '@stowage/core';
import { Failure, isFailure } from '@stowage/rules';
import { printError, printJson, printTable, type Row, sizeCell } from '../../terminal/output.js';
import type { Column } from '../../terminal/table.js';

export interface QuotaOptions {
	bytes?: string;
	entries?: string;
	none?: boolean;
	default?: boolean;
	json?: boolean;
}

/** Sets the given options, and prints the resulting quota. */
export async function setQuota(services: Services, name: string, options: QuotaOptions): Promise<void> {
	const { accounts } = services;
	const { bytes, entries, none, default: isDefault } = options;
	const { user, quota } = await accounts.quota(name);
	const chosen = [bytes ?? entries, none, isDefault].filter((option) => option !== undefined);
	if (chosen.length > 1) throw new Failure('invalid', 'Give --bytes and --entries, or --none, or --default.');
	if (none) await accounts.setQuota(name, { bytes: 0, entries: 0 });
	else if (isDefault) await accounts.setQuota(name, { bytes: null, entries: null });
	else if (chosen.length > 0) {
		await accounts.setQuota(name, {
			bytes: bytes === undefined ? quota.bytes : parseBytes(bytes),
			entries: entries === undefined ? quota.entries : parseCount(entries),
		});
	}
	const inForce = await quotaInForce(services, user);
	const { limit, isDefault: byDefault, used } = inForce;
	if (options.json) printJson({ quota: { ...limit, isDefault: byDefault }, used });
	else await printTable(quotaColumns, quotaRows(inForce));
}

interface QuotaInForce {
	/** 0 is no limit. */
	limit: { bytes: number; entries: number };
	/** Whether it is the configured one. */
	isDefault: { bytes: boolean; entries: boolean };
	/** Null where it can't be measured, such as while the disk is away. */
	used: { bytes: number; entries: number } | null;
}

/** Says so where the usage can't be measured. */
export async function quotaInForce(
	{ accounts, config, quotas }: Services,
	user: { id: string; username: string },
): Promise<QuotaInForce> {
	const { quota } = await accounts.quota(user.username);
	const { userBytes, userEntries } = config.quotas;
	return {
		limit: { bytes: quota.bytes ?? userBytes, entries: quota.entries ?? userEntries },
		isDefault: { bytes: quota.bytes === null, entries: quota.entries === null },
		used: await measuredOrNull(quotas, user),
	};
}

async function measuredOrNull(
	quotas: Services['quotas'],
	{ id, username }: { id: string; username: string },
): Promise<QuotaInForce['used']> {
	try {
		const { bytes, entries } = await quotas.measured({ kind: 'user', id, username });
		return { bytes, entries };
	} catch (error) {
		if (!isFailure(error)) throw error;
		printError(`The home of ${username} was not measured: ${error.message}`);
		return null;
	}
}

export const quotaColumns: readonly Column[] = ['QUOTA', 'USED', 'LIMIT', 'SET BY'].map((title) => ({ title }));

export function quotaRows({ limit, isDefault, used }: QuotaInForce): Row[] {
	const setBy = (byDefault: boolean) => (byDefault ? 'default' : 'administrator');
	return [
		['bytes', used === null ? 'unknown' : sizeCell(used.bytes), limitCell(limit.bytes), setBy(isDefault.bytes)],
		['entries', used?.entries ?? 'unknown', limit.entries === 0 ? 'no limit' : limit.entries, setBy(isDefault.entries)],
	];
}

/** A limit in bytes, as a cell of a table. */
export function limitCell(bytes: number): Row[number] {
	return bytes === 0 ? 'no limit' : sizeCell(bytes);
}

function parseBytes(text: string): number {
	const bytes = parseByteSize(text);
	if (bytes === undefined)
		throw new Failure('invalid', `--bytes: must be a size such as 0, '500 MB' or 10GB, not ${text}`);
	return bytes;
}

function parseCount(text: string): number {
	if (/^\d{1,15}$/.test(text)) return Number(text);
	throw new Failure('invalid', `--entries: must be a whole number, not ${text}`);
}
