import { MoreIcon } from '@blueprintjs/icons';
import { shownName } from '@stowage/rules';
import { filesMessages as messages } from '../../messages.js';

/** Opens the menu of an entry, in the list and in the grid, which handle its events. Tab passes it by: a row is one stop. */
export function MenuButton({ name, className }: { name: string; className: string | undefined }) {
	return (
		<button
			type="button"
			tabIndex={-1}
			className={className}
			data-part="menu"
			aria-label={messages.rowActions(shownName(name))}
			aria-haspopup="menu"
		>
			<MoreIcon size={16} aria-hidden />
		</button>
	);
}
