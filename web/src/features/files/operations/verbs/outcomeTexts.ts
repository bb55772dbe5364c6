import { type ClipboardItem, plural } from '@stowage/rules';
import { filesMessages as messages, nameItems } from '../../messages.js';

export const namesOf = (steps: readonly { item: ClipboardItem }[]) => nameItems(steps.map(({ item }) => item));

export function skippedNote({ passedOver }: { passedOver: number }): { detail?: string } {
	return passedOver === 0 ? {} : { detail: messages.skipped(plural(passedOver, 'item')) };
}
