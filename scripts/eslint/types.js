import ts from "typescript";

/**
 * Type questions of the rules in this directory, about ESTree nodes.
 *
 * @param {import("eslint").Rule.RuleContext} context
 */
export function typesOf(context) {
  const services = context.sourceCode.parserServices;
  if (!services?.program) throw new Error(`rule ${context.id} needs type information for ${context.filename}`);
  const checker = services.program.getTypeChecker();

  /** The members of the node's type, generics replaced by their constraints. */
  function parts(node) {
    const type = services.getTypeAtLocation(node);
    const constrained = checker.getBaseConstraintOfType(type) ?? type;
    return constrained.isUnion() ? constrained.types : [constrained];
  }

  const has = (node, flags) => parts(node).some((part) => (part.flags & flags) !== 0);

  return {
    maybeString: (node) => has(node, ts.TypeFlags.StringLike),
    maybeNil: (node) => has(node, ts.TypeFlags.Undefined | ts.TypeFlags.Null),
    maybeArray: (node) => parts(node).some((part) => checker.isArrayType(part) || checker.isTupleType(part)),
  };
}
