import type { SharedView } from '../../api/sharePage.js';
import { sharePageMessages as messages } from './messages.js';

type Titled = Pick<SharedView, 'title' | 'from' | 'only' | 'mode'>;

/** What the owner calls it, or else what it is. */
export function shareTitle({ title, from, only, mode }: Titled): string {
	return ownTitle({ title, only }) || (mode === 'view' ? messages.sharedBy(from) : messages.sendTo(from));
}

/** Whether the title says whose share it is, so that nothing below it needs to. */
export function namesOwner(share: Titled): boolean {
	return !ownTitle(share);
}

function ownTitle({ title, only }: Pick<Titled, 'title' | 'only'>): string | undefined {
	return title.trim() || only?.name;
}
