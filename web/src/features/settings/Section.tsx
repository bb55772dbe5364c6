import { type ReactNode, type Ref, useEffect, useId } from 'react';
import styles from './Section.module.css';

export interface SectionProps {
	title: string;
	/** The heading, which can be given the focus when the control that had it disappears. */
	titleRef?: Ref<HTMLHeadingElement>;
	children: ReactNode;
}

/** Says that a section holds something that would be lost if the dialog closed by itself, until the returned function is called. */
export type Hold = () => () => void;

/** Holds the dialog while `isHeld`. */
export function useHold(hold: Hold, isHeld: boolean): void {
	useEffect(() => (isHeld ? hold() : undefined), [isHeld, hold]);
}

/** A named part of the settings. */
export function Section({ title, titleRef, children }: SectionProps) {
	const id = useId();
	return (
		<section className={styles.section} aria-labelledby={id}>
			<h3 className={styles.title} id={id} {...(titleRef ? { ref: titleRef, tabIndex: -1 } : {})}>
				{title}
			</h3>
			{children}
		</section>
	);
}
