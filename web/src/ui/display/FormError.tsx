import { shownName } from '@stowage/rules';
import type { ReactNode } from 'react';
import styles from './FormError.module.css';

export interface FormErrorProps {
	/** Sets its margins. */
	className?: string | undefined;
	/** The sentence. */
	children: ReactNode;
	/** The server's message, or a hint. */
	reason?: ReactNode;
}

/** Why the last attempt of a form failed, announced and scrolled to as soon as it appears. */
export function FormError({ className = '', children, reason }: FormErrorProps) {
	return (
		<div ref={scrollTo} className={`${styles.error} ${className}`} role="alert">
			{children}
			{reason && <div className={styles.reason}>{typeof reason === 'string' ? shownName(reason) : reason}</div>}
		</div>
	);
}

/** Shows the error where it lies below the edge, as in a long form or a low window: the form would seem to do nothing. */
function scrollTo(element: HTMLElement | null): void {
	element?.scrollIntoView({ block: 'nearest' });
}
