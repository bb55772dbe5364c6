import type { TrashSelection } from '@stowage/plugin-api';
import { anonymousOwner } from '@stowage/rules';
import type { AuditEvent, AuditOutcome } from '../../audit/auditLine.js';
import { outcomeOf } from '../../audit/createAudit.js';
import type { PurgedOfOwner } from '../../trees/trash/purging/TrashPurge.js';
import type { TrashOwner } from '../../trees/trash/trashParts.js';

type Selection = Omit<TrashSelection, 'kind'>;

/** What the lines of a purge name. */
export interface PurgeNames {
	/** The name of whom something in the trash belongs to; undefined where another account has it, or that can't be read. */
	accountOf(owner: TrashOwner): Promise<string | undefined>;
	rootName(rootId: string): string | undefined;
}

/** Records what the administrator removes for good: a line for each user whose items these were, with how many. */
export async function recordPurge(
	audit: { record(event: AuditEvent, outcome: AuditOutcome): void | Promise<void> },
	names: PurgeNames,
	action: 'purgeTrash' | 'purgeVersions',
	selection: Selection,
	purge: () => Promise<PurgedOfOwner[]>,
): Promise<PurgedOfOwner[]> {
	const event: AuditEvent = { action, ...orderOf(selection, names) };
	let purged: PurgedOfOwner[];
	try {
		purged = await purge();
	} catch (error) {
		await audit.record(event, outcomeOf(error));
		throw error;
	}
	for (const { entries, ...owner } of purged)
		await audit.record({ ...event, ...(await whoseFields(owner, names)), entries }, { outcome: 'ok' });
	return purged;
}

/** Whose items a line is about. */
export async function whoseFields(
	owner: TrashOwner,
	{ accountOf }: Pick<PurgeNames, 'accountOf'>,
): Promise<Partial<AuditEvent>> {
	if (owner.ownerId === anonymousOwner) return { area: 'public', owner: anonymousOwner };
	const account = await accountOf(owner);
	return { accountId: owner.ownerId, ...(account === undefined ? {} : { account }) };
}

/** What was ordered. Whose items were chosen is in the lines. */
function orderOf({ ids, ownerId, rootId, deletedUntil }: Selection, { rootName }: PurgeNames): Partial<AuditEvent> {
	const [id] = ids ?? [];
	if (id !== undefined) return { trash: id };
	const root = rootId === undefined ? undefined : rootName(rootId);
	const whose = ownerId === undefined ? 'of everybody' : ownerId === anonymousOwner ? 'of visitors' : 'of one user';
	const until = deletedUntil === undefined ? '' : `, from before ${new Date(deletedUntil).toISOString()}`;
	return { detail: `${whose}${until}`, ...(root === undefined ? {} : { root }) };
}
