import { baseName, parentPath, parsePath, plural, type StoragePath } from '@stowage/rules';
import type { Restored } from '../../../api/trash.js';
import type { Notice } from '../../../ui/notifications/notifications.js';
import { reasonLines } from '../../../ui/notifications/notifications.js';
import { nameItems } from '../messages.js';
import { operationMessages as messages } from '../operations/messages.js';
import type { RestoreOutcome } from '../operations/restoreItems.js';
import { reasonOf } from '../operations/runEach.js';
import { trashMessages } from './messages.js';

/** The folder that all restored items are in, and the one of them that it begins at; undefined where there are several. */
export function restoredPlace({
	restored,
}: Pick<Restored, 'restored'>): { directory: StoragePath; path: string } | undefined {
	const [first, ...others] = restored;
	if (first === undefined) return undefined;
	const directory = parentPath(parsePath(first.path));
	const isOne = others.every(({ path }) => parentPath(parsePath(path)) === directory);
	return isOne ? { directory, path: first.path } : undefined;
}

/** The items under the names that they have now. */
export function restoredItems({ restored }: Pick<Restored, 'restored'>): { name: string }[] {
	return restored.map(({ path }) => ({ name: baseName(parsePath(path)) }));
}

/** The notices about a restore from the trash: what is restored, with `Show`, what is not, and what was not begun. */
export function restoreNotices(
	outcome: RestoreOutcome<{ id: string; name: string }>,
	items: readonly { id: string; name: string }[],
	showIn: (directory: StoragePath, path: string) => void,
): Notice[] {
	const { restored, failed, unanswered, left } = outcome;
	const notices: Notice[] = [];
	if (restored.length > 0) {
		const place = restoredPlace(outcome);
		const action = place && {
			action: { text: trashMessages.show, onClick: () => showIn(place.directory, place.path) },
		};
		const message = messages.restored(nameItems(restoredItems(outcome)));
		notices.push({ intent: 'success', message, ...action });
	}
	if (left.length > 0) {
		notices.push({ message: trashMessages.restoreCancelled, detail: messages.left(plural(left.length, 'item')) });
	}
	const names = new Map(items.map(({ id, name }) => [id, name]));
	const nameOf = (id: string) => names.get(id) ?? id;
	const refused = [...failed.map(({ id }) => ({ name: nameOf(id) })), ...unanswered];
	if (refused.length > 0) {
		const reasons = failed.map(({ id, message }) => `${nameOf(id)}: ${message}`);
		if (unanswered.length > 0) reasons.push(reasonOf(outcome.reason) ?? '');
		notices.push({
			intent: 'danger',
			message: trashMessages.restoreFailed(nameItems(refused)),
			detail: reasonLines(reasons),
		});
	}
	return notices;
}
