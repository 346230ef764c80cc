local ____exports = {}
--- Every error the API answers, under a stable code. docs/api.md explains each; a spec compares the two.
____exports.API_ERRORS = {
    PathNotFound = 404,
    UpstreamNotFound = 404,
    NodeNotFound = 404,
    MethodNotAllowed = 405,
    MethodDisabled = 405,
    UnsupportedMediaType = 415,
    BodyTooLarge = 413,
    BodyUnreadable = 400,
    BodyNotJson = 400,
    UnknownField = 400,
    BadValue = 400,
    BadChange = 400,
    StoreFull = 503,
    InternalError = 500,
    NotInitialised = 503
}
--- An error document: status, stable code, text for people, where the code is explained.
function ____exports.apiError(code, text)
    local status = ____exports.API_ERRORS[code]
    return {
        status = status,
        body = {error = {
            status = status,
            code = code,
            text = text,
            href = "docs/api.md#" .. string.lower(code)
        }}
    }
end
return ____exports
