import { Menu, MenuDivider, MenuItem, PopoverNext, PopupKind } from '@blueprintjs/core';
import { CogIcon, FolderCloseIcon, LinkIcon, LogOutIcon, PulseIcon, TrashIcon } from '@blueprintjs/icons';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { messages } from '../../messages.js';
import { QuotaNote } from '../display/QuotaNote.js';
import { moveInMenu } from '../keyboard/menuKeys.js';
import styles from './AppHeader.module.css';
import { UserButton } from './UserButton.js';

export interface UserMenuProps {
	username: string;
	onArea: (area: 'private' | 'public') => void;
	/** Opens the user's trash; undefined on a server without one. */
	onTrash: (() => void) | undefined;
	/** Opens the user's temporary links. */
	onLinks: () => void;
	/** Opens the user's long work. */
	onActivity: () => void;
	onSettings: () => void;
	onLogout: () => void;
	/** Whether the button was pressed before the menu was loaded. */
	isOpenAtFirst: boolean;
	/** Called when it closes, and what was chosen is about to open. */
	onClosing: () => void;
}

export function UserMenu(props: UserMenuProps) {
	const { username, isOpenAtFirst, onArea, onTrash, onLinks, onActivity, onSettings, onLogout, onClosing } = props;
	const [isOpen, setOpen] = useState(isOpenAtFirst);
	useEffect(() => {
		// The open menu partly covers controls of the page, which must not get the focus then.
		const page = document.querySelector('main');
		if (!isOpen || !page) return;
		page.inert = true;
		return () => {
			page.inert = false;
		};
	}, [isOpen]);
	function show(next: boolean) {
		// Not once the menu has faded out: a dialog that was chosen records at opening where the focus goes back to, and
		// would lose its own.
		if (!next) onClosing();
		setOpen(next);
	}
	function onKeyDown(event: KeyboardEvent<HTMLElement>) {
		moveInMenu(event);
		if (event.key !== 'Tab') return;
		event.preventDefault();
		show(false);
	}
	return (
		<PopoverNext
			isOpen={isOpen}
			onInteraction={show}
			popoverClassName={styles.popover}
			placement="bottom-end"
			arrow={false}
			hasBackdrop
			animation="minimal"
			popupKind={PopupKind.MENU}
			autoFocus={false}
			// `show` returns the focus, to a button that need not be the one that was pressed.
			enforceFocus={false}
			shouldReturnFocusOnClose={false}
			transitionDuration={100}
			onOpening={(element) => element.querySelector<HTMLElement>('[role="menuitem"]')?.focus({ preventScroll: true })}
			content={
				<>
					<QuotaNote />
					<Menu aria-label={username} className={styles.menu} onKeyDown={onKeyDown}>
						<MenuItem
							tagName="button"
							icon={<FolderCloseIcon />}
							text={messages.myFiles}
							onClick={() => onArea('private')}
						/>
						{onTrash && <MenuItem tagName="button" icon={<TrashIcon />} text={messages.trash} onClick={onTrash} />}
						<MenuItem tagName="button" icon={<LinkIcon />} text={messages.myLinks} onClick={onLinks} />
						<MenuItem tagName="button" icon={<PulseIcon />} text={messages.activity} onClick={onActivity} />
						<MenuItem tagName="button" icon={<CogIcon />} text={messages.settings} onClick={onSettings} />
						<MenuDivider />
						<MenuItem tagName="button" icon={<LogOutIcon />} text={messages.logout} onClick={onLogout} />
					</Menu>
				</>
			}
		>
			<UserButton username={username} />
		</PopoverNext>
	);
}
