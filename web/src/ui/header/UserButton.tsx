import { Button, type ButtonProps } from '@blueprintjs/core';
import { CaretDownIcon } from '@blueprintjs/icons';
import styles from './AppHeader.module.css';

/** Shows the user name. A popover around it passes its own properties. */
export function UserButton({ username, className = '', ...props }: { username: string } & ButtonProps) {
	return (
		<Button {...props} className={`${styles.user} ${className}`} variant="minimal" endIcon={<CaretDownIcon />}>
			<span className={styles.avatar} data-initial={[...username][0]?.toUpperCase()} aria-hidden="true" />
			<span className={styles.username}>{username}</span>
		</Button>
	);
}
