/**
 * A rule that reports every node matching a selector. Named rules rather than no-restricted-syntax, because flat config
 * replaces that rule's options per directory instead of merging them, and because a disable comment then names the trap.
 *
 * @param {Record<string, string>} messages selector (esquery) to message
 * @returns {import("eslint").Rule.RuleModule}
 */
export function syntaxRule(messages) {
  return {
    meta: { type: "problem", schema: [] },
    create(context) {
      const listeners = {};
      for (const [selector, message] of Object.entries(messages)) {
        listeners[selector] = (node) => context.report({ node, message });
      }
      return listeners;
    },
  };
}
