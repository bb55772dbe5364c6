import { Menu, MenuDivider, MenuItem, PopoverNext, PopupKind } from '@blueprintjs/core';
import { CogIcon, FolderCloseIcon, LinkIcon, LogOutIcon, PulseIcon, TrashIcon } from '@blueprintjs/icons';
import { useEffect, useState } from 'react';
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
	/** The button was pressed before the menu was loaded. */
	isOpenAtFirst: boolean;
	onClosed: () => void;
}

export function UserMenu(props: UserMenuProps) {
	const { username, isOpenAtFirst, onArea, onTrash, onLinks, onActivity, onSettings, onLogout, onClosed } = props;
	const [isOpen, setOpen] = useState(false);
	useEffect(() => {
		// The open menu partly covers controls of the page, which must not get the focus then.
		const page = document.querySelector('main');
		if (!isOpen || !page) return;
		page.inert = true;
		return () => {
			page.inert = false;
		};
	}, [isOpen]);
	return (
		<PopoverNext
			defaultIsOpen={isOpenAtFirst}
			popoverClassName={styles.popover}
			placement="bottom-end"
			arrow={false}
			hasBackdrop
			animation="minimal"
			popupKind={PopupKind.MENU}
			autoFocus={false}
			transitionDuration={100}
			onOpening={(element) => {
				element.querySelector<HTMLElement>('[role="menuitem"]')?.focus({ preventScroll: true });
				setOpen(true);
			}}
			onClosing={() => setOpen(false)}
			onClosed={onClosed}
			content={
				<>
					<QuotaNote />
					<Menu aria-label={username} className={styles.menu} onKeyDown={moveInMenu}>
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
